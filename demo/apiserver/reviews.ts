// Answers TokenReviews, SubjectAccessReviews, and users' reviews of their own rights.
import { isRecord } from "../../disruption/record.ts";
import { mayAccess, rulesIn } from "./access.ts";
import { textAt, valueAt } from "./api-object.ts";
import { type ApiAnswer, type ApiRequest, sentObject, type User } from "./api-request.ts";
import type { ObjectStore } from "./object-store.ts";
import { issuer, type TokenIssuer } from "./tokens.ts";

export async function reviewToken(tokens: TokenIssuer, request: ApiRequest): Promise<ApiAnswer> {
	const sent = sentObject(request);
	const asked = texts(valueAt(sent, "spec.audiences"));
	const wanted = asked.length > 0 ? asked : [issuer];
	const verified = await tokens.verify(textAt(sent, "spec.token"));
	const audiences = verified?.audiences.filter((audience) => wanted.includes(audience)) ?? [];
	const status =
		verified && audiences.length > 0
			? { authenticated: true, user: userInfo(verified.user), audiences }
			: { user: {}, error: "[invalid bearer token, Unknown.]" };
	return answer(request, { ...sent, status });
}

function userInfo({ name, uid, groups, extra }: User): object {
	return { username: name, ...(uid !== undefined && { uid }), groups, ...(extra && { extra }) };
}

export function reviewAccess(store: ObjectStore, request: ApiRequest): ApiAnswer {
	const sent = sentObject(request);
	const spec = isRecord(sent["spec"]) ? sent["spec"] : {};
	if (request.type.kind === "SelfSubjectRulesReview") {
		const resourceRules = rulesIn(store, request.user, textAt(spec, "namespace"));
		return answer(request, { ...sent, status: { resourceRules, nonResourceRules: [], incomplete: false } });
	}
	const isOwn = request.type.kind === "SelfSubjectAccessReview";
	const user = isOwn ? request.user : { name: textAt(spec, "user"), groups: texts(spec["groups"]) };
	const asked = (field: string) => textAt(spec, `resourceAttributes.${field}`);
	const subresource = asked("subresource");
	const allowed = mayAccess(store, user, {
		verb: asked("verb"),
		group: asked("group"),
		resource: asked("resource") + (subresource === "" ? "" : `/${subresource}`),
		name: asked("name"),
		namespace: asked("namespace"),
	});
	return answer(request, { ...sent, status: { allowed } });
}

function answer({ type }: ApiRequest, body: object): ApiAnswer {
	return {
		code: 201,
		body: { ...body, kind: type.kind, apiVersion: `${type.group}/${type.version}` },
	};
}

function texts(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
