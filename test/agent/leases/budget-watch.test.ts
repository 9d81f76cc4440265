import { afterEach, describe, expect, test, vi } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { BudgetsUpdate } from "../../../proto/agent-cluster.ts";
import { budget, memberBudget, newSpec } from "../../support/build-count.ts";
import { newController } from "../../support/build-lease.ts";
import { type SimulatedAgent, settle, simulateCluster, unavailable } from "../../support/simulated-agent.ts";

const ends: AbortController[] = [];
afterEach(() => {
	for (const end of ends.splice(0)) end.abort(new Error("the test is over"));
});

function startWatch({ local }: SimulatedAgent, namespaces: readonly string[] = []) {
	const updates: BudgetsUpdate[] = [];
	const end = new AbortController();
	ends.push(end);
	const watching = local.watchBudgets(namespaces, {
		signal: end.signal,
		onUpdate: (update) => void updates.push(update),
	});
	const ended = watching.then(
		() => "ended",
		(error: unknown) => error,
	);
	const told = () =>
		updates.flatMap(({ changed }) =>
			changed
				.filter(({ budget: { name } }) => name.name === budget.name)
				.map(({ state }) =>
					"unknown" in state ? state.unknown : `${state.healthy}/${JSON.stringify(state.expected)}`,
				),
		);
	return { updates, told, end, ended };
}

/** Creates a cluster with three pods of budget shop/db, and a watch that has reported them. */
async function watched() {
	const cluster = simulateCluster();
	const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "db" };
	cluster.server.putController({ ...controller, namespace: "shop", replicas: 3 });
	const pod = cluster.newPod("db-0", { controller });
	for (const name of ["db-1", "db-2"]) cluster.newPod(name, { controller });
	const agent = cluster.newAgent();
	agent.see();
	const pass = async (ms: number): Promise<void> => {
		for (let passed = 0; passed < ms; passed += 50) {
			cluster.clock.advance(50);
			agent.live();
			await settle();
		}
	};
	const reader = startWatch(agent);
	await pass(100);
	return { cluster, agent, reader, pass, pod };
}

const three = '3/{"kind":"known","pods":3}';

describe("a watch of budgets", () => {
	test("tells all there is first, and says when that is all", async () => {
		const { reader } = await watched();
		expect(reader.told()).toEqual([three]);
		expect(reader.updates.at(-1)).toMatchObject({ complete: true, gone: [] });
		expect(reader.updates[0]).toMatchObject({ complete: false });
	});

	test("tells what changes, at most twice a second", async () => {
		const { cluster, agent, reader, pass, pod } = await watched();
		const started = cluster.clock.now();
		for (let change = 0; change < 40; change += 1) {
			cluster.server.changePod(pod, { ready: change % 2 === 1 });
			agent.see();
			await pass(50);
		}
		const seconds = (cluster.clock.now() - started) / 1_000;
		expect(reader.told().length - 1).toBeLessThanOrEqual(seconds * 2 + 1);
		await pass(500);
		expect(reader.told().at(-1)).toBe(three);
	});

	test("asks for scales when a pod comes, goes or begins to go, and not when one is ready or not", async () => {
		const { cluster, agent, pass, pod } = await watched();
		const scalesAskedFor = async (change: () => void): Promise<number> => {
			const before = agent.requests.length;
			change();
			agent.see();
			await pass(600);
			return agent.requests.slice(before).filter((request) => request.includes("db")).length;
		};
		expect(await scalesAskedFor(() => cluster.server.changePod(pod, { ready: false }))).toBe(0);
		expect(await scalesAskedFor(() => cluster.server.changePod(pod, { terminating: true }))).toBe(1);
		expect(await scalesAskedFor(() => cluster.server.removePod(pod))).toBe(1);
		expect(await scalesAskedFor(() => cluster.newPod("db-0"))).toBe(1);
	});

	test("asks for no scale that the watches on workloads show", async () => {
		const scale = { kind: "replicas", replicas: 7, uid: "uid-of-db" } as const;
		const cluster = simulateCluster();
		cluster.server.putController({ ...newController("db"), namespace: "shop", replicas: 3 });
		cluster.newPod("db-0", { controller: newController("db") });
		const agent = cluster.newAgent({
			workloads: {
				isProven: () => true,
				wanted: () => undefined,
				workloads: () => [],
				shownScale: ({ name }, namespace) =>
					`${namespace}/${name}` === "shop/db" ? { ...scale, uid: newController("db").uid } : undefined,
			},
		});
		const updates: BudgetsUpdate[] = [];
		const over = new AbortController();
		const watching = agent.local.watchBudgets([], {
			signal: over.signal,
			onUpdate: (update) => void updates.push(update),
		});
		watching.catch(() => undefined);
		for (let turn = 0; turn < 20; turn += 1) {
			await settle();
			cluster.clock.advance(100);
		}
		over.abort();
		const states = updates.flatMap(({ changed }) => changed.map(({ state }) => state));
		expect(states.at(-1)).toMatchObject({ expected: { kind: "known", pods: 7 } });
		expect(agent.requests.filter((request) => request.startsWith("get scales"))).toEqual([]);
	});

	test("asks again for the scales of many budgets in turn, twenty in two seconds, and for each of them once", async () => {
		const { cluster, agent, pass } = await watched();
		const names = Array.from({ length: 70 }, (_, number) => `web-${number}`);
		for (const name of names) {
			cluster.server.putBudget({
				name: { namespace: "shop", name },
				spec: { selector: { matchLabels: { app: name } }, minAvailable: 1 },
			});
			const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name, uid: name };
			cluster.server.putController({ ...controller, namespace: "shop", replicas: 1 });
			cluster.newPod(`${name}-0`, { labels: { app: name }, controller });
		}
		agent.see();
		await pass(4_000);
		const scales = () => agent.requests.filter((request) => request.includes("web-")).length;
		const asked = scales();
		const everyTwoSeconds: number[] = [];
		for (let beat = 0; beat < 36; beat += 1) {
			const before = scales();
			await pass(2_000);
			everyTwoSeconds.push(scales() - before);
		}
		expect(scales() - asked).toBe(names.length);
		expect(Math.max(...everyTwoSeconds)).toBeLessThanOrEqual(20);
	});

	test("gives signs of life while nothing changes, and asks the API server for nothing but the fleet", async () => {
		const { agent, reader, pass } = await watched();
		const [updates, requests] = [reader.updates.length, agent.requests.length];
		await pass(10_000);
		expect(reader.updates.slice(updates)).toHaveLength(5);
		expect(reader.updates.slice(updates).every(({ changed, complete }) => changed.length === 0 && complete)).toBe(true);
		expect(agent.requests.length - requests).toBeLessThanOrEqual(5);
	});

	test("says that nothing is known while a watch is dead, and begins anew afterwards", async () => {
		const { cluster, agent, reader, pass } = await watched();
		cluster.clock.advance(8_000);
		await settle();
		const last = reader.updates.at(-1);
		expect(last).toMatchObject({ complete: false, unknown: "the watches of its agent show no sign of life" });
		agent.live();
		await pass(3_000);
		expect(reader.updates.at(-1)?.unknown).toBeUndefined();
		expect(reader.updates.at(-1)?.complete).toBe(true);
		expect(reader.told()).toEqual([three, three]);
	});

	/** Makes the watches dead until `meanwhile` has run, just before a sign of life is due. */
	async function deadBetweenBeats(
		{ cluster, agent, pass }: Awaited<ReturnType<typeof watched>>,
		meanwhile: () => void,
	) {
		// Signs of life are due at 2, 4 and 6 s. The watches last showed one at 0.5 s.
		await pass(400);
		cluster.clock.advance(5_250);
		await settle();
		meanwhile();
		await settle();
		cluster.clock.advance(50);
		agent.live();
		await settle();
	}

	test("owes everything to a reader who comes while a watch is dead for less than a beat", async () => {
		const fleet = await watched();
		let late: ReturnType<typeof startWatch> | undefined;
		await deadBetweenBeats(fleet, () => (late = startWatch(fleet.agent)));
		await fleet.pass(5_000);
		const complete = late?.updates.findIndex((update) => update.complete) ?? -1;
		expect(complete).toBeGreaterThanOrEqual(0);
		expect(late?.updates.slice(0, complete + 1).flatMap(({ changed }) => changed)).toHaveLength(1);
	});

	test("tells what was counted while a watch was dead for less than a beat", async () => {
		const fleet = await watched();
		const { cluster, agent, pass, pod } = fleet;
		const scale = Promise.withResolvers<void>();
		agent.before = ({ resource }) => (resource === "scales" ? scale.promise : undefined);
		cluster.server.changePod(pod, { ready: false, terminating: true });
		agent.see();
		await deadBetweenBeats(fleet, () => scale.resolve());
		await pass(5_000);
		expect(fleet.reader.told().at(-1)).toBe(three.replace("3/", "2/"));
	});

	test("says that nothing is known while the fleet cannot be read", async () => {
		const { agent, reader, pass } = await watched();
		agent.before = () => {
			throw unavailable;
		};
		await pass(5_000);
		expect(reader.updates.at(-1)).toMatchObject({ complete: false, unknown: unavailable.message });
		agent.before = () => undefined;
		await pass(5_000);
		expect(reader.updates.at(-1)?.complete).toBe(true);
	});

	test("tells of a budget that comes, is changed and goes", async () => {
		const { cluster, agent, reader, pass } = await watched();
		const web = { namespace: "shop", name: "web" };
		cluster.server.putBudget({ ...memberBudget(newSpec({ maxUnavailable: 1 })), name: web });
		agent.see();
		await pass(100);
		expect(reader.updates.at(-1)?.changed.map(({ budget: { name } }) => name)).toEqual([web]);
		cluster.server.deleteBudget(web);
		agent.see();
		await pass(100);
		expect(reader.updates.flatMap(({ gone }) => gone)).toEqual([web]);
	});

	test("tells a budget that nobody can read as unknown, with what is wrong", async () => {
		const { cluster, agent, reader, pass } = await watched();
		cluster.server.putBudget({ ...memberBudget(newSpec({ maxUnavailable: 1 })), spec: { maxUnavailable: 1 } });
		agent.see();
		await pass(1_000);
		expect(reader.told().at(-1)).toContain("selector");
	});

	test("tells only of the namespaces that were asked for", async () => {
		const { agent, pass } = await watched();
		const other = startWatch(agent, ["other"]);
		const shop = startWatch(agent, ["shop"]);
		await pass(100);
		expect(other.told()).toEqual([]);
		expect(other.updates.at(-1)?.complete).toBe(true);
		expect(shop.told()).toEqual([three]);
	});

	test("ends with its signal, and does nothing once nobody looks on", async () => {
		const { agent, reader, pass } = await watched();
		const reason = new AgentUnavailableError("The agent is shutting down", "eu-1");
		reader.end.abort(reason);
		expect(await reader.ended).toBe(reason);
		expect(agent.local.watchers).toBe(0);
		const before = agent.requests.length;
		await pass(10_000);
		expect(agent.requests.length).toBe(before);
	});

	test("has 1,000 budgets counted once each, compared once where they are listed anew, and one pod changes only its own", async () => {
		const { cluster, agent, pass } = await watched();
		for (let number = 0; number < 1_000; number += 1) {
			cluster.server.putBudget({
				name: { namespace: "shop", name: `web-${number}` },
				spec: { selector: { matchLabels: { app: `web-${number}` } }, minAvailable: 1 },
			});
		}
		const pod = cluster.newPod("web-7-0", { labels: { app: "web-7" } });
		agent.see();
		const { updates } = startWatch(agent);
		await pass(3_000);
		expect(new Set(updates.flatMap(({ changed }) => changed.map(({ budget: { name } }) => name.name))).size).toBe(
			1_001,
		);
		const comparing = vi.spyOn(JSON, "stringify");
		agent.relistBudgets();
		await settle();
		const comparisons = comparing.mock.calls.length;
		comparing.mockRestore();
		expect(comparisons).toBeLessThan(3_000);
		const before = updates.length;
		cluster.server.changePod(pod, { ready: false });
		agent.see();
		await pass(600);
		expect(updates.slice(before).flatMap(({ changed }) => changed.map(({ budget: { name } }) => name.name))).toEqual([
			"web-7",
		]);
	});
});
