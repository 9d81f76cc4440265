import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type DrainDependencies, type DrainOptions, drain } from "../../../plugin/drain/drain.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import type { EvictionJob } from "../../../plugin/evictions/eviction-job.ts";
import type { PodOutcome } from "../../../plugin/evictions/pod-outcome.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { NodeHold } from "../../../plugin/nodes/node-hold.ts";
import type { NodeTarget } from "../../../plugin/nodes/node-target.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { drainOptions } from "../../support/build-drain-options.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

interface World {
	readonly context: KubeContext;
	readonly nodes: readonly NodeTarget[];
	readonly calls: string[];
}

function newWorld(name: string, podsByNode: Readonly<Record<string, readonly V1Pod[]>>, calls: string[] = []): World {
	const client = newClient({
		patch(path, body) {
			calls.push(`patch ${path} ${JSON.stringify(body)}`);
			return {};
		},
		list(_path, query) {
			const { fieldSelector } = query as { readonly fieldSelector: string };
			return podsByNode[fieldSelector.replace("spec.nodeName=", "")] ?? [];
		},
		get: (path) => {
			if (path.includes("/daemonsets/lost")) throw notFound('daemonsets.apps "lost" not found');
			return {};
		},
	});
	const context = newContext(name, client);
	const nodes = Object.keys(podsByNode).map((node) => ({
		context,
		name: node,
		uid: `uid-${node}`,
		unschedulable: false,
	}));
	return { context, nodes, calls };
}

function newRun(calls: string[], evict?: (job: EvictionJob) => Promise<PodOutcome>) {
	const events: RunEvent[] = [];
	const stop = new AbortController();
	const left: string[] = [];
	const deps: DrainDependencies = {
		evictions: {
			async evict(job) {
				calls.push(`evict ${job.node}/${job.pod.name}`);
				return evict ? evict(job) : { kind: "evicted" };
			},
		},
		emit: (event) => void events.push(event),
		stop: stop.signal,
		wallClock: () => 0,
		now: () => 0,
		leaveAgent: (contextName, uid) => void left.push(`${contextName} ${uid}`),
		agentNamespaces: () => ["xpdb-system"],
	};
	return { deps, events, stop, left };
}

const owned = { owner: { kind: "ReplicaSet", name: "rs" } };
const labels = { "app.kubernetes.io/name": "xpdb-agent" };
const agent = newV1Pod("agent-1", { ...owned, namespace: "xpdb-system", labels });
const nodesOf = (worlds: readonly World[]): readonly NodeTarget[] => worlds.flatMap(({ nodes }) => nodes);
const kinds = (result: Awaited<ReturnType<typeof drain>>): readonly string[] =>
	result.nodes.map(({ node, kind }) => `${node.name} ${kind}`);

describe("drain()", () => {
	test("leaves a node alone that another run has taken over, and goes on with the others", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [newV1Pod("a", owned)], n2: [newV1Pod("b", owned)] });
		const holds = new Map(
			nodes.map((node) => {
				const options = { holder: "mine", read: async () => undefined, now: () => 0, sleep: async () => undefined };
				return [node.name, node.name === "n1" ? new NodeHold(node, options) : undefined] as const;
			}),
		);
		const { deps, events } = newRun(calls, async ({ hold, timeout }) => {
			await hold?.confirm(timeout.signal);
			// A pod's wait ends like this if the run has lost its node.
			return timeout.signal.aborted ? { kind: "stopped" } : { kind: "evicted" };
		});
		const drained: string[] = [];
		const annotations = {
			cordon: async () => "done" as const,
			drained: async ({ name }: NodeTarget) => void drained.push(name),
			hold: ({ name }: NodeTarget) => holds.get(name),
		};
		const result = await drain(nodes, drainOptions, { ...deps, annotations });
		expect(kinds(result)).toEqual(["n1 failed", "n2 drained"]);
		expect(drained).toEqual(["n2"]);
		expect(events.filter(({ type }) => type === "node.failed")).toMatchObject([
			{
				node: "n1",
				reason: "TakenOver",
				why: expect.stringContaining('node "n1" does not belong to this run any more'),
			},
		]);
	});

	test("cordons all nodes before the first eviction, then one node after the other", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [newV1Pod("a", owned)], n2: [newV1Pod("b", owned)] });
		const result = await drain(nodes, drainOptions, newRun(calls).deps);
		expect(calls).toEqual([
			'patch /api/v1/nodes/n1?fieldManager=kubectl-xpdb {"spec":{"unschedulable":true}}',
			'patch /api/v1/nodes/n2?fieldManager=kubectl-xpdb {"spec":{"unschedulable":true}}',
			"evict n1/a",
			"evict n2/b",
		]);
		expect(kinds(result)).toEqual(["n1 drained", "n2 drained"]);
	});

	test("nodes of different clusters go side by side, --max-nodes of one cluster too", async () => {
		const calls: string[] = [];
		const first = newWorld(
			"c1",
			{ n1: [newV1Pod("a", owned)], n2: [newV1Pod("b", owned)], n3: [newV1Pod("c", owned)] },
			calls,
		);
		const second = newWorld("c2", { m1: [newV1Pod("d", owned)] }, calls);
		const open: (() => void)[] = [];
		const { deps } = newRun(calls, () => new Promise((resolve) => open.push(() => resolve({ kind: "evicted" }))));
		const result = drain(nodesOf([first, second]), { ...drainOptions, maxNodes: 2 }, deps);
		const evictions = (): readonly string[] => calls.filter((call) => call.startsWith("evict"));
		await expect.poll(evictions).toEqual(["evict n1/a", "evict n2/b", "evict m1/d"]);
		open[0]?.();
		await expect.poll(evictions).toContain("evict n3/c");
		for (const finish of open) finish();
		expect(kinds(await result)).toEqual(["n1 drained", "n2 drained", "n3 drained", "m1 drained"]);
	});

	test("evicts nothing on a node with a filter error, and goes on with the next", async () => {
		const { nodes, calls } = newWorld("c1", {
			n1: [newV1Pod("bare"), newV1Pod("a", owned)],
			n2: [newV1Pod("b", owned)],
		});
		const { deps, events } = newRun(calls);
		const result = await drain(nodes, { ...drainOptions, force: false }, deps);
		expect(calls.filter((call) => call.startsWith("evict"))).toEqual(["evict n2/b"]);
		expect(kinds(result)).toEqual(["n1 failed", "n2 drained"]);
		expect(events).toContainEqual({
			type: "node.failed",
			context: "c1",
			node: "n1",
			reason: "PodsNotAllowed",
			why: "cannot delete Pods that declare no controller (use --force to override): default/bare",
			errors: ["cannot delete Pods that declare no controller (use --force to override): default/bare"],
			pending: [],
		});
	});

	test("a DaemonSet that is gone is taken by --force", async () => {
		const lost = newV1Pod("lost-1", { owner: { kind: "DaemonSet", name: "lost" } });
		const { nodes, calls } = newWorld("c1", { n1: [lost] });
		await drain(nodes, drainOptions, newRun(calls).deps);
		expect(calls).toContain("evict n1/lost-1");
	});

	test("leaves the pods of a node that could not be cordoned, and goes on", async () => {
		const calls: string[] = [];
		const client = newClient({
			patch: () => Promise.reject(new ApiError("nodes is forbidden", { code: 403, reason: "Forbidden" })),
			list: () => [newV1Pod("a", owned)],
		});
		const context = newContext("c1", client);
		const node = { context, name: "n1", uid: "u", unschedulable: false };
		const already = { context, name: "n2", uid: "v", unschedulable: true };
		const { deps, events } = newRun(calls);
		const result = await drain([node, already], drainOptions, deps);
		expect(events[0]).toEqual({
			type: "node.cordonFailed",
			context: "c1",
			node: "n1",
			uncordon: false,
			message: "nodes is forbidden",
		});
		expect(kinds(result)).toEqual(["n1 failed", "n2 drained"]);
		expect(calls).toEqual(["evict n2/a"]);
	});

	test("tells what is left on a node whose pods failed", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [newV1Pod("a", owned), newV1Pod("b", owned)] });
		const { deps, events } = newRun(calls, async ({ pod }) =>
			pod.name === "a"
				? { kind: "evicted" }
				: { kind: "failed", message: "no", reason: "BudgetExhausted", unreachable: true, waitedFor: "budget x" },
		);
		const result = await drain(nodes, drainOptions, deps);
		expect(events.at(-1)).toEqual({
			type: "node.failed",
			context: "c1",
			node: "n1",
			reason: "BudgetExhausted",
			why: "budget x",
			errors: ["no"],
			pending: ["a", "b"],
		});
		expect(result.nodes[0]).toMatchObject({ kind: "failed", unreachable: true });
	});

	test("agents go last, and are left before", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [agent, newV1Pod("a", owned)] });
		const leftBefore: string[] = [];
		const { deps, left } = newRun(calls, async ({ pod }) => {
			leftBefore.push(`${pod.name} ${left.length}`);
			return { kind: "evicted" };
		});
		await drain(nodes, drainOptions, deps);
		expect(leftBefore).toEqual(["a 0", "agent-1 1"]);
		expect(calls.slice(1)).toEqual(["evict n1/a", "evict n1/agent-1"]);
		expect(left).toEqual(["c1 uid-agent-1"]);
	});

	test("a dry run leaves no agent", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [agent] });
		const { deps, left } = newRun(calls);
		await drain(nodes, { ...drainOptions, dryRun: "server" }, deps);
		expect(calls.slice(1)).toEqual(["evict n1/agent-1"]);
		expect(left).toEqual([]);
	});

	test("a pod that only calls itself an agent goes with the others", async () => {
		const impostor = newV1Pod("impostor", { ...owned, namespace: "tenant", labels });
		const { nodes, calls } = newWorld("c1", { n1: [impostor, newV1Pod("b", owned), agent] });
		const { deps, left } = newRun(calls);
		await drain(nodes, drainOptions, deps);
		expect(calls.slice(1)).toEqual(["evict n1/impostor", "evict n1/b", "evict n1/agent-1"]);
		expect(left).toEqual(["c1 uid-agent-1"]);
	});

	test("agents stay while other pods of the node could not be evicted", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [agent, newV1Pod("a", owned)] });
		const { deps } = newRun(calls, async () => ({
			kind: "failed",
			message: "no",
			reason: "Refused",
			unreachable: false,
		}));
		const result = await drain(nodes, drainOptions, deps);
		expect(calls).not.toContain("evict n1/agent-1");
		expect(kinds(result)).toEqual(["n1 failed"]);
	});

	describe("with an order", () => {
		const ordered = [
			newV1Pod("primary", { ...owned, labels: { step: "2" } }),
			agent,
			newV1Pod("replica-a", { ...owned, labels: { step: "1" } }),
			newV1Pod("replica-b", { ...owned, labels: { step: "1" } }),
		];
		const inSteps: DrainOptions = { ...drainOptions, order: { kind: "label", key: "step" } };
		const evicted = (calls: readonly string[]): readonly string[] => calls.filter((call) => call.startsWith("evict"));

		test("a group begins when the one before it is gone, agents last of all", async () => {
			const { nodes, calls } = newWorld("c1", { n1: ordered });
			const open: (() => void)[] = [];
			const { deps } = newRun(calls, () => new Promise((resolve) => open.push(() => resolve({ kind: "evicted" }))));
			const result = drain(nodes, inSteps, deps);
			await expect.poll(() => evicted(calls)).toEqual(["evict n1/replica-a", "evict n1/replica-b"]);
			open[0]?.();
			open[1]?.();
			await expect.poll(() => evicted(calls).slice(2)).toEqual(["evict n1/primary"]);
			open[2]?.();
			await expect.poll(() => evicted(calls).slice(3)).toEqual(["evict n1/agent-1"]);
			open[3]?.();
			expect(kinds(await result)).toEqual(["n1 drained"]);
		});

		test("a group that fails ends its node, and the next node begins", async () => {
			const { nodes, calls } = newWorld("c1", { n1: ordered, n2: [newV1Pod("other", owned)] });
			const { deps } = newRun(calls, async ({ pod }) =>
				pod.name === "replica-a"
					? { kind: "failed", message: "no", reason: "DisruptionBudget", unreachable: false }
					: { kind: "evicted" },
			);
			expect(kinds(await drain(nodes, inSteps, deps))).toEqual(["n1 failed", "n2 drained"]);
			expect(evicted(calls)).toEqual(["evict n1/replica-a", "evict n1/replica-b", "evict n2/other"]);
		});

		test("a stop between two groups leaves the rest of the node", async () => {
			const { nodes, calls } = newWorld("c1", { n1: ordered });
			const { deps, stop } = newRun(calls, async () => {
				stop.abort();
				return { kind: "evicted" };
			});
			expect(kinds(await drain(nodes, inSteps, deps))).toEqual(["n1 stopped"]);
			expect(evicted(calls)).toEqual(["evict n1/replica-a", "evict n1/replica-b"]);
		});
	});

	test("a stop ends the node at hand and begins no other", async () => {
		const { nodes, calls } = newWorld("c1", {
			n1: [agent, newV1Pod("a", owned), newV1Pod("b", owned)],
			n2: [newV1Pod("c", owned)],
		});
		const { deps, stop, events } = newRun(calls, async ({ pod }) => {
			stop.abort();
			return pod.name === "a" ? { kind: "evicted" } : { kind: "stopped" };
		});
		const result = await drain(nodes, drainOptions, deps);
		expect(calls.filter((call) => call.startsWith("evict"))).toEqual(["evict n1/a", "evict n1/b"]);
		expect(kinds(result)).toEqual(["n1 stopped", "n2 stopped"]);
		expect(events.some(({ type }) => type === "node.failed" || type === "node.drained")).toBe(false);
	});

	test("a client's dry run writes nothing", async () => {
		const { nodes, calls } = newWorld("c1", { n1: [newV1Pod("a", owned)] });
		const { deps, events } = newRun(calls);
		await drain(nodes, { ...drainOptions, dryRun: "client" }, { ...deps, evictions: undefined });
		expect(calls).toEqual([]);
		expect(events.map(({ type }) => type)).toEqual(["node.cordoned", "pod.evicting", "node.drained"]);
	});
});
