// The base of all controllers: writes add keys to a queue, and a later turn of the event loop reconciles them.
import type { ApiCore } from "../api-core.ts";
import type { ApiObject, JsonObject } from "../api-object.ts";
import type { ApiRequest, User, Verb } from "../api-request.ts";
import type { StoreEvent } from "../object-store.ts";
import { builtInType } from "../resource-types.ts";
import { StatusError } from "../status-error.ts";

/** Runs the controllers of a cluster. While it is paused, writes queue up, as with a frozen controller manager, but timers keep running. */
export class ControllerHost {
	readonly core: ApiCore;
	readonly #stoppers: (() => void)[] = [];
	readonly #waiting = new Set<() => void>();
	#paused = false;
	#stopped = false;

	constructor(core: ApiCore) {
		this.core = core;
	}

	pause(): void {
		this.#paused = true;
	}

	resume(): void {
		this.#paused = false;
		const waiting = [...this.#waiting];
		this.#waiting.clear();
		for (const run of waiting) setImmediate(run);
	}

	stop(): void {
		this.#stopped = true;
		for (const stop of this.#stoppers) stop();
	}

	/** Calls `look` for each key that writes have touched since the last run. `keysOf` returns the keys that a write touches. */
	reconcile(options: {
		/** "all" includes the kinds of CustomResourceDefinitions that are created later. */
		readonly resources: readonly string[] | "all";
		readonly keysOf: (event: StoreEvent) => readonly string[];
		readonly look: (key: string) => void;
	}): void {
		const queued = new Set<string>();
		const run = (): void => {
			if (this.#stopped) return;
			if (this.#paused) {
				this.#waiting.add(run);
				return;
			}
			const keys = [...queued];
			queued.clear();
			for (const key of keys) this.#look(key, options.look);
		};
		const see = (event: StoreEvent): void => {
			if (options.resources !== "all" && !options.resources.includes(event.resource)) return;
			const keys = options.keysOf(event);
			if (keys.length === 0) return;
			if (queued.size === 0) setImmediate(run);
			for (const key of keys) queued.add(key);
		};
		this.#stoppers.push(this.core.store.subscribe(see));
		const known =
			options.resources === "all" ? new Set(this.core.types.map(({ key: each }) => each)) : options.resources;
		for (const resource of known) {
			for (const object of this.core.store.list(resource)) {
				see({ type: "ADDED", resource, version: 0, object, previous: undefined });
			}
		}
	}

	/** Runs the action after this time unless the cluster stops first. Returns a function that cancels it. */
	after(ms: number, action: () => void): () => void {
		const timer = setTimeout(() => {
			if (!this.#stopped) this.#look("", action);
		}, ms);
		const cancel = (): void => clearTimeout(timer);
		this.#stoppers.push(cancel);
		return cancel;
	}

	#look(key: string, look: (key: string) => void): void {
		try {
			look(key);
		} catch (error) {
			// The API refused a write, for example because the namespace is terminating. The next write that queues the key retries.
			if (!(error instanceof StatusError)) throw error;
		}
	}

	/** Returns a client for one controller. The audit log shows its writes under this name. */
	as(name: string, groups: readonly string[] = ["system:serviceaccounts", "system:authenticated"]): ControllerClient {
		return new ControllerClient(this.core, { name, groups });
	}
}

export function controllerName(name: string): string {
	return `system:serviceaccount:kube-system:${name}`;
}

type Place = Partial<Pick<ApiRequest, "namespace" | "name" | "subresource">>;

export class ControllerClient {
	readonly #core: ApiCore;
	readonly #user: User;

	constructor(core: ApiCore, user: User) {
		this.#core = core;
		this.#user = user;
	}

	create(resource: string, namespace: string, body: JsonObject): ApiObject {
		return this.#send("create", resource, { namespace }, body) as ApiObject;
	}

	update(resource: string, object: ApiObject, subresource = ""): ApiObject {
		return this.#send("update", resource, { ...placeOf(object), subresource }, object) as ApiObject;
	}

	setStatus(resource: string, object: ApiObject, status: JsonObject): void {
		if (JSON.stringify(object.status) === JSON.stringify(status)) return;
		this.update(resource, { ...object, status }, "status");
	}

	remove(resource: string, object: ApiObject, options: JsonObject = {}): void {
		const preconditions = { uid: object.metadata.uid };
		this.#send("delete", resource, placeOf(object), { ...options, preconditions });
	}

	#send(verb: Verb, resource: string, place: Place, body: unknown): unknown {
		const { namespace = "", name = "", subresource = "" } = place;
		const type = this.#core.types.find(({ key }) => key === resource) ?? builtInType(resource);
		const request = {
			user: this.#user,
			verb,
			type,
			namespace,
			name,
			subresource,
			body,
			contentType: "application/json",
		};
		return this.#core.perform({ ...request, query: new URLSearchParams() }).body;
	}
}

function placeOf({ metadata: { namespace = "", name } }: ApiObject): Place {
	return { namespace, name };
}
