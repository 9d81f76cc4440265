import { describe, expect, test } from "vitest";
import { openRotationWorld } from "../../../plugin/install/rotation-world.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { forbidden, newClient, newContext, notFound } from "../../support/build-context.ts";
import { certificate } from "../../support/sample-certificate.ts";

const pod = {
	metadata: { name: "agent-1", namespace: "xpdb-system", uid: "u1" },
	spec: { containers: [] },
	status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
};

interface Answers {
	readonly token?: () => unknown;
	readonly rules?: readonly object[];
	readonly dial?: Error;
}

/** Opens the world of a fleet whose only member has one ready agent. */
async function worldOf({ token = () => ({ status: { token: "t" } }), rules = [], dial }: Answers) {
	const client = {
		...newClient({
			get: (path) =>
				path.endsWith("/kube-system")
					? { metadata: { uid: "id-eu" } }
					: { metadata: {}, data: { members: "- {id: id-eu, name: eu, address: 'eu.example.com:443'}" } },
			list: () => [pod],
			post: (path) => (path.endsWith("/token") ? token() : { status: { resourceRules: rules } }),
		}),
		webSocket: () => Promise.reject(dial ?? new Error("no port-forward was expected")),
	};
	const signal = new AbortController().signal;
	const { world } = await openRotationWorld([newContext("eu", client)], { ca: certificate, signal, dryRun: false });
	return world;
}

function refuse(error: Error): () => never {
	return () => {
		throw error;
	};
}

const busy = new ApiError("the server is busy", { code: 503 });

describe("openRotationWorld(): agents()", () => {
	const missing: readonly (Answers & { readonly name: string; readonly message: RegExp })[] = [
		{
			name: "to ask for a token",
			token: refuse(forbidden("serviceaccounts/token")),
			message:
				/^eu: cannot ask its agents: cannot ask for a token of ServiceAccount xpdb-system\/xpdb-operator: .* is forbidden \(.*'kubectl xpdb check --context=?.?eu' has the commands\)$/,
		},
		{
			name: "to open a port-forward",
			dial: forbidden("pods/portforward"),
			message:
				/^eu: cannot ask its agents: cannot open a port-forward to pod xpdb-system\/agent-1: .* is forbidden \(.*'kubectl xpdb check --context=?.?eu' has the commands\)$/,
		},
	];
	for (const { name, message, ...answers } of missing) {
		test(`ends the rotation at once if the user may not do what it needs: ${name}`, async () => {
			const world = await worldOf(answers);
			await expect(world.agents("eu")).rejects.toMatchObject({
				reason: "Usage",
				message: expect.stringMatching(message),
			});
		});
	}

	test("ends it also if the user has to name one of several accounts", async () => {
		const rule = { verbs: ["create"], apiGroups: [""], resources: ["serviceaccounts/token"] };
		const rules = [{ ...rule, resourceNames: ["a", "b"] }];
		const world = await worldOf({ token: refuse(forbidden("serviceaccounts/token")), rules });
		await expect(world.agents("eu")).rejects.toThrow(/name one of a, b with --agent-account$/);
	});

	const passing: readonly (Answers & { readonly name: string; readonly problem: string })[] = [
		{
			name: "an API server that is busy when it is asked for a token",
			token: refuse(busy),
			problem: "cannot ask for a token of ServiceAccount xpdb-system/xpdb-operator: the server is busy",
		},
		{
			name: "a pod that is gone when it is dialed",
			dial: notFound('pods "agent-1" not found'),
			problem: 'cannot open a port-forward to pod xpdb-system/agent-1: pods "agent-1" not found',
		},
	];
	for (const { name, problem, ...answers } of passing) {
		test(`is asked again after ${name}, and remembers why`, async () => {
			const world = await worldOf(answers);
			expect(await world.agents("eu")).toEqual([]);
			expect(world.problem("eu")).toBe(problem);
		});
	}
});
