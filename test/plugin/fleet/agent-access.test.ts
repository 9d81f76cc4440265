import { describe, expect, test } from "vitest";
import { StepError } from "../../../plugin/fleet/access-step.ts";
import { accessAgents, requireOwnCluster } from "../../../plugin/fleet/agent-access.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { createVerboseLog } from "../../../plugin/terminal/verbose-log.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { startForwardingServer } from "../../support/forwarding-server.ts";
import { clusterId } from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const labels = { "app.kubernetes.io/name": "xpdb-agent" };
const anchorPods = "/api/v1/namespaces/xpdb-system/pods";

/** Returns a cluster with a tenant's pod that pretends to be an agent, by default without real agents. */
function newCluster({
	agents = [],
	budgetKind = true,
	get = {},
}: {
	readonly agents?: readonly object[];
	readonly budgetKind?: boolean;
	readonly get?: Readonly<Record<string, object>>;
} = {}) {
	const impostor = { ...newV1Pod("impostor", { namespace: "tenant", labels }), ...ready(true) };
	return newContext(
		"eu",
		newClient({
			list: (path) => (path === anchorPods ? agents : path === "/api/v1/pods" ? [...agents, impostor] : [impostor]),
			get(path) {
				if (path === "/apis/x-pdb.form3.tech/v1alpha1" && budgetKind)
					return { resources: [{ name: "xpoddisruptionbudgets" }] };
				const answer = get[path];
				if (!answer) throw notFound(`${path} not found`);
				if (answer instanceof Error) throw answer;
				return answer;
			},
			post: () => ({ status: { token: "abc" } }),
		}),
	);
}

function ready(yes: boolean) {
	return { status: { phase: "Running", conditions: [{ type: "Ready", status: yes ? "True" : "False" }] } };
}

const forbidden = new ApiError("it is forbidden", { code: 403, reason: "Forbidden" });
const problemOf = async (context: ReturnType<typeof newCluster>) => {
	const result = await accessAgents(context);
	return result.kind === "failed" ? result.problem : result.kind;
};

describe("accessAgents()", () => {
	test("finds no agent in a cluster where a tenant's pod calls itself one", async () => {
		expect(await problemOf(newCluster({ budgetKind: false }))).toBe("none");
		expect(await problemOf(newCluster())).toMatch(/no agent in namespace xpdb-system: .*--agent-namespace/);
	});

	test("a cluster without anything of ours may forbid to read what is not there", async () => {
		const get = { "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet": forbidden };
		expect(await problemOf(newCluster({ budgetKind: false, get }))).toBe("none");
		expect(await problemOf(newCluster({ get }))).toContain("it is forbidden");
	});

	test("says who gives the rights that somebody with rights to nodes and pods lacks", async () => {
		const agents = [{ ...newV1Pod("agent-1", { namespace: "xpdb-system", labels }), ...ready(true) }];
		const get = { "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet": forbidden };
		expect(await problemOf(newCluster({ agents, get }))).toBe(
			"Error from server (Forbidden): it is forbidden (an administrator gives you what is missing: 'kubectl xpdb check --context eu' has the commands)",
		);
	});

	describe("in a cluster with neither agents nor budgets", () => {
		const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
		const members = "- id: 0001\n  name: eu\n";
		test.each([
			{ name: "lists members", map: { data: { members } } },
			{ name: "has no list of members that could be read", map: { data: { members: "[" } } },
			{ name: "has no list of members", map: {} },
		])("refuses where the fleet's ConfigMap $name: it was ours, and others may count on it", async ({ map }) => {
			expect(await problemOf(newCluster({ budgetKind: false, get: { [path]: map } }))).toBe(
				"ConfigMap xpdb-system/xpdb-fleet makes this cluster a member of a fleet, but it has neither agents nor the kind XPodDisruptionBudget: " +
					"install xpdb there again or, if the cluster has left the fleet for good, delete the ConfigMap: " +
					"kubectl delete configmap xpdb-fleet -n xpdb-system --context eu",
			);
		});

		test("refuses where nobody can say whether there is such a ConfigMap", async () => {
			const broken = new ApiError("etcdserver: request timed out", { code: 500 });
			expect(await problemOf(newCluster({ budgetKind: false, get: { [path]: broken } }))).toContain(
				"request timed out",
			);
			const cut = new ConnectionError("https://eu", new Error("connection reset"));
			expect(await problemOf(newCluster({ budgetKind: false, get: { [path]: cut } }))).toContain("connection reset");
			const odd = { data: { members, namespaces: "[" } };
			expect(await problemOf(newCluster({ budgetKind: false, get: { [path]: odd } }))).toContain(
				"cannot use ConfigMap xpdb-system/xpdb-fleet",
			);
		});
	});

	test("has no way around an anchor whose agents are not ready", async () => {
		const agents = [{ ...newV1Pod("agent-1", { namespace: "xpdb-system", labels }), ...ready(false) }];
		expect(await problemOf(newCluster({ agents }))).toBe(
			"no agent is ready: see kubectl describe pod agent-1 -n xpdb-system --context eu",
		);
	});

	test("goes on nowhere without the cluster's own id, and says how to get the right", async () => {
		const agents = [{ ...newV1Pod("agent-1", { namespace: "xpdb-system", labels }), ...ready(true) }];
		const get = {
			"/api/v1/namespaces/xpdb-system/configmaps/xpdb-ca": { data: { "ca.crt": "a certificate" } },
			"/api/v1/namespaces/kube-system": forbidden,
		};
		expect(await problemOf(newCluster({ agents, get }))).toBe(
			"cannot read the cluster's id, the UID of namespace kube-system: it is forbidden (an administrator gives you what is missing: 'kubectl xpdb check --context eu' has the commands)",
		);
		const cluster = newCluster({ agents, get });
		const agentNamespace = "guard";
		const suggest = new SuggestedCommands({ ...readGlobalFlags({}), agentNamespace });
		expect(await problemOf({ ...cluster, suggest })).toContain(
			"'kubectl xpdb check --context eu --agent-namespace=guard' has",
		);
		const without = { ...get, "/api/v1/namespaces/kube-system": { metadata: {} } };
		expect(await problemOf(newCluster({ agents, get: without }))).toBe("namespace kube-system has no UID");
	});
});

describe("requireOwnCluster()", () => {
	test("believes an agent that speaks for the cluster it was found in, and no other", () => {
		const context = newContext("eu");
		requireOwnCluster({ clusterId: "uid-1" }, "uid-1", context);
		const claim = () => requireOwnCluster({ clusterId: "uid-2" }, "uid-1", context);
		expect(claim).toThrow(StepError);
		expect(claim).toThrow('its agent claims to be cluster "uid-2", but the UID of namespace kube-system is "uid-1"');
		expect(() => requireOwnCluster({ clusterId: "" }, "uid-1", context)).toThrow(StepError);
	});
});

describe("an agent whose node dies in the middle of TLS's handshake", () => {
	const { serve, fleet } = servedAgents();

	test("is left for the other one before the first call has waited in vain for as long as it may", async () => {
		const agent = await serve();
		using api = await startForwardingServer(agent.callerPort);
		api.dying.add("agent-1");
		const agents = ["agent-1", "agent-2"].map((name) => ({
			...newV1Pod(name, { namespace: "xpdb-system", labels }),
			...ready(true),
		}));
		const get = {
			"/api/v1/namespaces/xpdb-system/configmaps/xpdb-ca": { data: { "ca.crt": fleet().certificate } },
			"/api/v1/namespaces/kube-system": { metadata: { uid: clusterId } },
		};
		const context = newCluster({ agents, get });
		const client = { ...context.client, webSocket: api.client.webSocket.bind(api.client) };
		const { stderr, err } = collectStreams();
		const access = await accessAgents({ ...context, client, log: createVerboseLog(6, stderr) });
		try {
			expect(access).toMatchObject({ kind: "reached", description: { clusterId } });
			expect(api.paths.map((path) => /pods\/([^/]+)/.exec(path)?.[1])).toEqual(["agent-1", "agent-2"]);
			expect([...err().matchAll(/status="(\w+)"/g)].map(([, status]) => status)).toEqual(["UNAVAILABLE", "OK"]);
		} finally {
			if (access.kind === "reached") access.close();
		}
	});
});
