// Handles API requests: those of clients through api-server.ts, and those of the controllers in this process.
import { mayAccess, refusalOf } from "./access.ts";
import type { ApiAnswer, ApiRequest } from "./api-request.ts";
import { type AuditLog, now } from "./audit-log.ts";
import { remove, removeCollection } from "./deletion.ts";
import { evict } from "./eviction.ts";
import { ObjectStore } from "./object-store.ts";
import { list, listBody, read, selection } from "./reads.ts";
import { isReview, type ResourceType, servedTypes } from "./resource-types.ts";
import { reviewAccess, reviewToken } from "./reviews.ts";
import { scale } from "./scale.ts";
import { forbidden, methodNotAllowed, noSuchPath, StatusError } from "./status-error.ts";
import { createTokenIssuer, type TokenIssuer } from "./tokens.ts";
import { create, patch, update } from "./writes.ts";

const definitions = "customresourcedefinitions.apiextensions.k8s.io";

export class ApiCore {
	readonly store: ObjectStore;
	readonly tokens: TokenIssuer;
	readonly #audit: AuditLog | undefined;

	constructor(parts: {
		readonly store: ObjectStore;
		readonly tokens: TokenIssuer;
		readonly audit: AuditLog | undefined;
	}) {
		this.store = parts.store;
		this.tokens = parts.tokens;
		this.#audit = parts.audit;
	}

	get types(): readonly ResourceType[] {
		return servedTypes(this.store.list(definitions));
	}

	/** Authorizes and performs a request. Rejects with StatusError if it is refused. */
	async handle(request: ApiRequest): Promise<ApiAnswer> {
		this.authorize(request);
		const { type, subresource } = request;
		if (subresource === "token") return this.tokens.request(request);
		if (type.kind === "TokenReview") return reviewToken(this.tokens, request);
		return this.perform(request);
	}

	authorize({ user, verb, type, namespace, name, subresource }: ApiRequest): void {
		const resource = subresource === "" ? type.plural : `${type.plural}/${subresource}`;
		const attributes = { verb, group: type.group, resource, name, namespace };
		if (mayAccess(this.store, user, attributes)) return;
		throw forbidden(type, name, refusalOf(user, attributes));
	}

	/** Performs a request without authorization. It is synchronous and therefore atomic. */
	perform(request: ApiRequest): ApiAnswer {
		const startedAt = now();
		try {
			const answer = this.#do(request);
			this.#audit?.record(request, answer, startedAt);
			return answer;
		} catch (error) {
			if (error instanceof StatusError) {
				this.#audit?.record(request, { code: error.status.code, body: error.status }, startedAt);
			}
			throw error;
		}
	}

	#do(request: ApiRequest): ApiAnswer {
		const { type, verb, subresource } = request;
		const { store } = this;
		if (isReview(type)) {
			if (verb !== "create") throw methodNotAllowed();
			return reviewAccess(store, request);
		}
		if (subresource !== "" && !type.subresources.includes(subresource)) throw noSuchPath();
		if (subresource === "scale") return scale(store, request);
		if (subresource === "eviction") {
			if (verb !== "create") throw methodNotAllowed();
			return evict(store, request);
		}
		switch (verb) {
			case "get":
				return { code: 200, body: read(store, request) };
			case "list":
				return { code: 200, body: listBody(type, list(store, request)) };
			case "create":
				return create(store, request);
			case "update":
				return update(store, request);
			case "patch":
				return patch(store, request);
			case "delete":
				return remove(store, request);
			case "deletecollection":
				return removeCollection(store, request, store.list(type.key).filter(selection(request)));
			case "watch":
				throw methodNotAllowed();
		}
	}
}

export async function createApiCore(audit?: AuditLog): Promise<ApiCore> {
	const store = new ObjectStore();
	return new ApiCore({ store, tokens: await createTokenIssuer(store), audit });
}
