import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { MemberBudget } from "../../../disruption/budget/cluster.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { warnOfStranded } from "../../../plugin/run/warn-of-stranded.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { drainOptions } from "../../support/build-drain-options.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const owner = { kind: "StatefulSet", name: "db" };
const database = ["db-0", "db-1"].map((name) => newV1Pod(name, { namespace: "shop", labels: { app: "db" }, owner }));
const free = newV1Pod("web-0", { namespace: "shop", labels: { app: "web" }, owner });
const agent = newV1Pod("xpdb-agent-1", {
	namespace: "xpdb-system",
	labels: { "app.kubernetes.io/name": "xpdb-agent" },
	owner: { kind: "ReplicaSet", name: "xpdb-agent" },
});
const node = (name: string, spec: V1Node["spec"] = {}): V1Node => ({ metadata: { name, labels: {} }, spec });

interface Scene {
	readonly pods?: readonly V1Pod[];
	readonly nodes?: readonly V1Node[] | ApiError;
	readonly drained?: readonly string[];
	readonly member?: string;
	readonly budgets?: readonly MemberBudget[];
}

/** Returns what is reported before nodes of context "eu" are drained, and the requests for that. */
async function foresee({ pods = database, nodes = [], drained = ["n0"], member = "eu", budgets }: Scene) {
	const fleet = new FakeFleet([member]);
	if (budgets) fleet.budgets.push(...budgets);
	else fleet.addBudget("db", { maxUnavailable: 1 });
	const asked: string[] = [];
	const listed: string[] = [];
	const client = newClient({
		list(path, query) {
			asked.push(path);
			if (path === "/api/v1/nodes") {
				if (nodes instanceof ApiError) throw nodes;
				return nodes;
			}
			const { fieldSelector = "" } = query as { readonly fieldSelector?: string };
			return fieldSelector === `spec.nodeName=${drained[0]}` ? pods : [];
		},
	});
	const context = newContext("eu", client);
	const targets = drained.map((name) => ({ context, name, uid: name, unschedulable: false }));
	const events: RunEvent[] = [];
	const { stranded, going } = await warnOfStranded(
		targets,
		{
			memberOf: (name) => fleet.memberOf(name),
			listBudgets: (namespaces) => fleet.listBudgets(namespaces),
			agentNamespaces: () => ["xpdb-system"],
		},
		{
			...drainOptions,
			onListed: (going, lists) =>
				void listed.push(`${going.map(({ metadata }) => metadata?.name).join()} ${lists.length}`),
		},
		(event) => events.push(event),
	);
	const told = { stranded: [...stranded], events, askedForNodes: asked.includes("/api/v1/nodes") };
	return { told, going, listed };
}

const warning = { type: "diagnostic", level: "warning" };
const untilThen = (counts: string) => `no node of the cluster is left; until then ${counts} as down for budget shop/db`;

const warn = async (scene: Scene) => (await foresee(scene)).told;

describe("warnOfStranded()", () => {
	test("counts the pods that go, for the progress of the run", async () => {
		expect((await foresee({ pods: [...database, free] })).going).toBe(3);
		expect((await foresee({ pods: [free], member: "us" })).going).toBe(0);
	});

	test("hands on all pods that go, with the budgets of their namespaces, whatever becomes of the nodes", async () => {
		const bare = newV1Pod("db-9", { namespace: "shop", labels: { app: "db" } });
		expect((await foresee({ pods: [bare] })).listed).toEqual(["db-9 1"]);
		const forbidden = new ApiError("nodes is forbidden", { code: 403, reason: "Forbidden" });
		expect((await foresee({ pods: [...database, free], nodes: forbidden })).listed).toEqual(["db-0,db-1,web-0 1"]);
		expect((await foresee({ pods: [free], member: "us" })).listed).toEqual([]);
	});

	test("says for which pods no node is left where all nodes of a cluster are drained", async () => {
		const drained = ["n0", "n1"];
		expect(await warn({ drained, nodes: drained.map((name) => node(name)) })).toEqual({
			stranded: ["uid-db-0", "uid-db-1"],
			events: [
				{
					...warning,
					context: "eu",
					reason: "NoOtherNode",
					message: `the replacements of shop/db-0, shop/db-1 will find no node: ${untilThen("they count")}`,
				},
			],
			askedForNodes: true,
		});
	});

	test("says nothing where another node takes them", async () => {
		expect(await warn({ nodes: [node("n0"), node("n1")] })).toEqual({ stranded: [], events: [], askedForNodes: true });
	});

	test("says so where the other nodes do not fit", async () => {
		const taints = [{ key: "gpu", effect: "NoSchedule" }];
		const { events } = await warn({ nodes: [node("n0"), node("n1", { taints })] });
		expect(events).toMatchObject([
			{ message: expect.stringContaining("does not tolerate the taints of the other nodes (gpu)") },
		]);
	});

	test("says where they return to the drained node, because they tolerate its cordon", async () => {
		const tolerant = database.map((pod) => ({
			...pod,
			spec: { containers: [], ...pod.spec, tolerations: [{ operator: "Exists" }] },
		}));
		const only = await warn({ pods: tolerant, nodes: [node("n0")] });
		expect(only.stranded).toEqual([]);
		expect(only.events).toMatchObject([
			{
				reason: "ReturnsToNode",
				message:
					"the replacements of shop/db-0, shop/db-1 will return to n0, which is drained: it tolerates the cordon, and no node of the cluster is left",
			},
		]);
		const { events } = await warn({ pods: tolerant, nodes: [node("n1"), node("n0")] });
		expect(events).toMatchObject([
			{ message: expect.stringMatching(/ may return to n0, which is drained: it tolerates the cordon$/) },
		]);
	});

	test("says where they only have to wait, and does not call them lost", async () => {
		const { stranded, events } = await warn({ nodes: [node("n0"), node("n1", { unschedulable: true })] });
		expect(stranded).toEqual([]);
		expect(events).toMatchObject([
			{ message: expect.stringContaining("will wait: the other nodes that fit take no pods") },
		]);
	});

	test("warns of agents, without which no budget can be asked", async () => {
		const { events } = await warn({ pods: [agent], nodes: [node("n0")] });
		expect(events).toMatchObject([
			{ message: "the replacement of xpdb-system/xpdb-agent-1 will find no node: no node of the cluster is left" },
		]);
	});

	test("leaves pods to kubectl's ways that no budget of the fleet covers, and asks for no nodes", async () => {
		expect(await warn({ pods: [free], nodes: [] })).toEqual({ stranded: [], events: [], askedForNodes: false });
		expect(await warn({ budgets: [] })).toEqual({ stranded: [], events: [], askedForNodes: false });
	});

	test("says nothing of a cluster that is no member, or of pods that nobody replaces", async () => {
		expect(await warn({ member: "us" })).toMatchObject({ events: [], askedForNodes: false });
		const bare = newV1Pod("db-9", { namespace: "shop", labels: { app: "db" } });
		expect(await warn({ pods: [bare] })).toMatchObject({ events: [], askedForNodes: false });
	});

	test("does not keep a drain where it cannot be known", async () => {
		const forbidden = new ApiError("nodes is forbidden", { code: 403, reason: "Forbidden" });
		const { stranded, events } = await warn({ nodes: forbidden });
		expect(stranded).toEqual([]);
		expect(events).toEqual([
			{
				...warning,
				message: expect.stringMatching(
					/^whether a node is left for the pods that go is not known: .*nodes is forbidden/,
				),
			},
		]);
	});
});
