import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";
import type { Answer, ContractWorld, Identity } from "./contract-world.ts";

const audience = "xpdb-agent";
const operatorAccount = "/api/v1/namespaces/xpdb-system/serviceaccounts/xpdb-operator/token";

function requestToken(world: ContractWorld, path: string, spec: object, as: Identity = "admin"): Promise<Answer> {
	const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
	return world.call({ method: "POST", path, body, as });
}

async function issueToken(world: ContractWorld, path: string, spec: object): Promise<string> {
	const answer = await requestToken(world, path, spec);
	expect(answer.code).toBe(201);
	return (answer.body as { status: { token: string } }).status.token;
}

async function review(world: ContractWorld, token: string, audiences?: readonly string[]) {
	const answer = await world.call({
		method: "POST",
		path: "/apis/authentication.k8s.io/v1/tokenreviews",
		body: {
			apiVersion: "authentication.k8s.io/v1",
			kind: "TokenReview",
			spec: { token, ...(audiences && { audiences }) },
		},
	});
	expect(answer).toMatchObject({ code: 201, body: { kind: "TokenReview" } });
	return (answer.body as { status: object }).status;
}

function reviewAccess(world: ContractWorld, spec: object, kind = "SubjectAccessReview", as: Identity = "admin") {
	const path = `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`;
	return world.call({ method: "POST", path, body: { apiVersion: "authorization.k8s.io/v1", kind, spec }, as });
}

export const reviewCases: readonly ContractCase[] = [
	{
		name: "the operator gets a short-lived token for the agents",
		async run(world) {
			const spec = { audiences: [audience], expirationSeconds: 600 };
			const answer = await requestToken(world, operatorAccount, spec, "operator");
			expect(answer).toMatchObject({ code: 201, body: { kind: "TokenRequest", spec } });
			const { status } = answer.body as { status: { token: string; expirationTimestamp: string } };
			expect(status.token.split(".")).toHaveLength(3);
			const inSeconds = (Date.parse(status.expirationTimestamp) - Date.now()) / 1_000;
			expect(Math.abs(inSeconds - 600)).toBeLessThan(10);
		},
	},
	{
		name: "a token for less than ten minutes is a 422",
		async run(world) {
			const answer = await requestToken(world, operatorAccount, { expirationSeconds: 599 });
			expect(answer).toMatchObject({
				code: 422,
				body: { reason: "Invalid", details: { causes: [{ field: "spec.expirationSeconds" }] } },
			});
		},
	},
	{
		name: "a token of an account that is not there is a 404",
		async run(world) {
			const path = `${world.path("serviceaccounts", "nobody")}/token`;
			expect(await requestToken(world, path, {})).toMatchObject({ code: 404, body: { reason: "NotFound" } });
		},
	},
	{
		name: "a review names the user of a token, for the audience that it is for",
		async run(world) {
			const token = await issueToken(world, operatorAccount, { audiences: [audience] });
			expect(await review(world, token, [audience])).toMatchObject({
				authenticated: true,
				audiences: [audience],
				user: {
					username: "system:serviceaccount:xpdb-system:xpdb-operator",
					groups: ["system:serviceaccounts", "system:serviceaccounts:xpdb-system", "system:authenticated"],
					extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=/)] },
				},
			});
		},
	},
	{
		name: "a review of a token for somebody else, or of no token at all, says so",
		async run(world) {
			const token = await issueToken(world, operatorAccount, { audiences: ["somebody-else"] });
			for (const status of [
				await review(world, token, [audience]),
				await review(world, token),
				await review(world, "x.y.z", [audience]),
			]) {
				expect(status).not.toHaveProperty("authenticated", true);
				expect(status).toHaveProperty("error", expect.any(String));
			}
		},
	},
	{
		name: "a token for the agents alone is none for the API server",
		async run(world) {
			const token = await issueToken(world, operatorAccount, { audiences: [audience] });
			expect((await world.call({ method: "GET", path: "/api/v1/pods", as: { token } })).code).toBe(401);
		},
	},
	{
		name: "a token is somebody, with the rights of that account",
		async run(world) {
			const token = await issueToken(world, "/api/v1/namespaces/xpdb-system/serviceaccounts/xpdb-agent/token", {});
			const as = { token };
			expect((await world.call({ method: "GET", path: "/api/v1/pods?limit=1", as })).code).toBe(200);
			expect(await world.call({ method: "GET", path: "/api/v1/nodes", as })).toMatchObject({
				code: 403,
				body: {
					message:
						'nodes is forbidden: User "system:serviceaccount:xpdb-system:xpdb-agent" cannot list resource "nodes" in API group "" at the cluster scope',
				},
			});
		},
	},
	{
		name: "a token that is bound to a pod ends with it",
		async run(world) {
			const { uid } = (await world.createPod({ name: "bound" })).metadata;
			const path = `${world.path("serviceaccounts", "default")}/token`;
			const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "bound", uid };
			const token = await issueToken(world, path, { boundObjectRef });
			expect(await review(world, token)).toMatchObject({
				authenticated: true,
				user: {
					extra: {
						"authentication.kubernetes.io/pod-name": ["bound"],
						"authentication.kubernetes.io/pod-uid": [uid],
					},
				},
			});
			await world.call({ method: "DELETE", path: world.path("pods", "bound"), body: { gracePeriodSeconds: 0 } });
			// An API server may cache for some seconds that the token was valid.
			await world.until("the end of the token", async () => {
				return !("authenticated" in (await review(world, token)));
			});
		},
	},
	{
		name: "a token for a pod that is not there, or is another, is refused",
		async run(world) {
			await world.createPod({ name: "unbound" });
			const path = `${world.path("serviceaccounts", "default")}/token`;
			const bind = (name: string, uid: string) =>
				requestToken(world, path, { boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid } });
			expect((await bind("nothing", "another")).code).toBe(404);
			expect((await bind("unbound", "another")).code).toBe(409);
		},
	},
	{
		name: "an access review knows the verb that only the agents ask for, on budgets everywhere and for nobody else",
		async run(world) {
			const user = "system:serviceaccount:xpdb-system:xpdb-operator";
			const asked = (verb: string, name?: string, account = user) => ({
				user: account,
				groups: ["system:serviceaccounts"],
				resourceAttributes: {
					group: "x-pdb.form3.tech",
					resource: "xpoddisruptionbudgets",
					verb,
					namespace: world.namespace,
					...(name && { name }),
				},
			});
			for (const spec of [asked("acquire"), asked("acquire", "web")]) {
				const answer = await reviewAccess(world, spec);
				expect(answer).toMatchObject({ code: 201, body: { kind: "SubjectAccessReview", status: { allowed: true } } });
			}
			for (const spec of [
				asked("update"),
				asked("acquire", "web", `system:serviceaccount:${world.namespace}:default`),
			]) {
				expect(await reviewAccess(world, spec)).toMatchObject({ code: 201, body: { status: { allowed: false } } });
			}
		},
	},
	{
		name: "a right to a budget by name is none to another, and none to all of its namespace",
		async run(world) {
			const rbac = "rbac.authorization.k8s.io";
			const role = {
				apiVersion: `${rbac}/v1`,
				kind: "Role",
				metadata: { name: "own-budget" },
				rules: [
					{
						apiGroups: ["x-pdb.form3.tech"],
						resources: ["xpoddisruptionbudgets"],
						resourceNames: ["web"],
						verbs: ["acquire"],
					},
				],
			};
			const binding = {
				apiVersion: `${rbac}/v1`,
				kind: "RoleBinding",
				metadata: { name: "own-budget" },
				roleRef: { apiGroup: rbac, kind: "Role", name: "own-budget" },
				subjects: [{ kind: "ServiceAccount", name: "team", namespace: "xpdb-system" }],
			};
			const create = (resource: string, body: object) =>
				world.call({ method: "POST", path: world.path(resource, undefined, `${rbac}/v1`), body });
			expect((await create("roles", role)).code).toBe(201);
			expect((await create("rolebindings", binding)).code).toBe(201);
			const may = async (name: string, namespace = world.namespace) => {
				const attributes = { group: "x-pdb.form3.tech", resource: "xpoddisruptionbudgets", verb: "acquire" };
				const { body } = await reviewAccess(world, {
					user: "system:serviceaccount:xpdb-system:team",
					resourceAttributes: { ...attributes, namespace, ...(name !== "" && { name }) },
				});
				return (body as { status: { allowed: boolean } }).status.allowed;
			};
			// A real API server sees a new role through a watch.
			await world.until("the right", () => may("web"));
			expect([await may("db"), await may(""), await may("web", "default")]).toEqual([false, false, false]);
		},
	},
	{
		name: "everyone may ask for their own rights",
		async run(world) {
			const may = async (resource: string, verb: string, subresource = "") => {
				const spec = { resourceAttributes: { resource, verb, subresource, namespace: world.namespace } };
				const { body } = await reviewAccess(world, spec, "SelfSubjectAccessReview", "operator");
				return (body as { status: { allowed: boolean } }).status.allowed;
			};
			expect(await may("pods", "create", "eviction")).toBe(true);
			expect(await may("pods", "create")).toBe(false);
		},
	},
	{
		name: "everyone may ask for the rules that give them their rights in a namespace",
		async run(world) {
			const rules = async (namespace: string) => {
				const answer = await reviewAccess(world, { namespace }, "SelfSubjectRulesReview", "operator");
				expect(answer).toMatchObject({ code: 201, body: { kind: "SelfSubjectRulesReview" } });
				return (answer.body as { status: { resourceRules: readonly { resources?: string[] }[] } }).status.resourceRules;
			};
			const forTokens = {
				verbs: ["create"],
				apiGroups: [""],
				resources: ["serviceaccounts/token"],
				resourceNames: ["xpdb-operator"],
			};
			expect(await rules("xpdb-system")).toContainEqual(forTokens);
			expect((await rules(world.namespace)).flatMap(({ resources = [] }) => resources)).not.toContain(
				"serviceaccounts/token",
			);
		},
	},
];
