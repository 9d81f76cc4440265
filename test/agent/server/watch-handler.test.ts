import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../agent/process/system-clock.ts";
import type { CallerVerdict } from "../../../agent/server/identity.ts";
import { OpenCalls } from "../../../agent/server/open-calls.ts";
import { AgentForbiddenError, AgentProtocolError, AgentUnavailableError } from "../../../disruption/errors.ts";
import type { BudgetHistory, BudgetsUpdate, WatchedBudget, WatchOptions } from "../../../proto/agent-cluster.ts";
import type { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const { serve } = servedAgents();

function watched(name: string, healthy: number, padding = ""): WatchedBudget {
	const budget = { name: { namespace: "shop", name }, spec: { padding } };
	return { budget, state: { ...samples.count, healthy, candidates: [], budgets: [budget] } };
}

const update = (more: Partial<BudgetsUpdate>): BudgetsUpdate => ({ changed: [], gone: [], complete: false, ...more });

function fedCluster() {
	const readers = new Set<(update: BudgetsUpdate) => void>();
	let hasReader = Promise.withResolvers<void>();
	const local = createFakeCluster({
		watchBudgets: (_, { signal, onUpdate }) =>
			new Promise((__, reject) => {
				readers.add(onUpdate);
				hasReader.resolve();
				signal.addEventListener("abort", () => {
					readers.delete(onUpdate);
					hasReader = Promise.withResolvers();
					reject(signal.reason);
				});
			}),
	});
	return {
		local,
		readers,
		feed: async (next: BudgetsUpdate): Promise<void> => {
			await hasReader.promise;
			for (const onUpdate of readers) onUpdate(next);
		},
	};
}

async function readUntil(caller: RemoteCluster, isSo: (updates: readonly BudgetsUpdate[]) => boolean) {
	const updates: BudgetsUpdate[] = [];
	const end = new AbortController();
	const enough = new Error("enough");
	const onUpdate: WatchOptions["onUpdate"] = (next) => {
		updates.push(next);
		if (isSo(updates)) end.abort(enough);
	};
	await expect(caller.watchBudgets([], { signal: end.signal, onUpdate })).rejects.toBe(enough);
	return updates;
}

const never = new AbortController().signal;
const ignore = (): void => undefined;

describe("WatchBudgets", () => {
	test("hands on what there is, what is gone and that it is all", async () => {
		const { local, feed } = fedCluster();
		const caller = (await serve({ local })).asCaller();
		const gone = { namespace: "shop", name: "old" };
		const reading = readUntil(caller, (updates) => updates.at(-1)?.complete === true);
		await feed(update({ changed: [watched("db", 3)], gone: [gone], complete: true }));
		expect(await reading).toEqual([update({ changed: [watched("db", 3)], gone: [gone], complete: true })]);
	});

	test("sends 1,000 budgets in parts, and calls only the last of them complete", async () => {
		const { local, feed } = fedCluster();
		const caller = (await serve({ local })).asCaller();
		const reading = readUntil(caller, (updates) => updates.at(-1)?.complete === true);
		await feed(update({ changed: Array.from({ length: 1_000 }, (_, at) => watched(`db-${at}`, 1)), complete: true }));
		const updates = await reading;
		expect(updates.map(({ changed }) => changed.length)).toEqual(Array.from({ length: 10 }, () => 100));
		expect(updates.map(({ complete }) => complete)).toEqual([...Array.from({ length: 9 }, () => false), true]);
	});

	test("keeps for a reader that does not read the latest state of each budget, and no queue", async () => {
		const { local, feed } = fedCluster();
		const agent = await serve({ local });
		const call = agent.clientForCallers().watchBudgets({ clusterId: "", namespaces: [] });
		call.on("error", ignore);
		// The client does not read, so HTTP/2 accepts only 64 KB.
		call.pause();
		const padding = "x".repeat(50_000);
		for (let healthy = 0; healthy < 500; healthy += 1) {
			await feed(update({ changed: [watched("db", healthy, padding)], complete: true }));
			if (healthy % 25 === 0) await new Promise((resolve) => void setTimeout(resolve, 5));
		}
		const seen: number[] = [];
		const last = new Promise<void>((resolve) => {
			call.on("data", ({ changed }: { changed: { state?: { value?: { healthy?: number } } }[] }) => {
				for (const { state } of changed) seen.push(state?.value?.healthy ?? -1);
				if (seen.at(-1) === 499) resolve();
			});
		});
		call.resume();
		await last;
		call.cancel();
		expect(seen.length).toBeLessThan(40);
	});

	test("tells nobody a count of a budget that they have no right to", async () => {
		const { local, feed } = fedCluster();
		const agent = await serve({ local, refusal: ({ name }) => (name === "db" ? "No right to db" : undefined) });
		const reading = readUntil(agent.asCaller(), (updates) => updates.at(-1)?.complete === true);
		await feed(update({ changed: [watched("db", 3), watched("web", 2)], complete: true }));
		const [told] = await reading;
		expect(told?.changed.map(({ state }) => ("unknown" in state ? state.unknown : state.healthy))).toEqual([
			"No right to db",
			2,
		]);
	});

	test("sends histories after what is so now, and only of budgets that the caller has a right to", async () => {
		const { local, feed } = fedCluster();
		const agent = await serve({ local, refusal: ({ name }) => (name === "db-1" ? "No right to db-1" : undefined) });
		const names = Array.from({ length: 150 }, (_, at) => `db-${at}`);
		const historyOf = (name: string): BudgetHistory => ({
			budget: { namespace: "shop", name },
			lastAt: 180,
			everySeconds: 60,
			healthy: [3, undefined, 0],
		});
		const toldOf = (updates: readonly BudgetsUpdate[]) => updates.flatMap(({ histories = [] }) => histories);
		const reading = readUntil(agent.asCaller(), (updates) => toldOf(updates).length === 149);
		await feed(
			update({ changed: names.map((name) => watched(name, 3)), histories: names.map(historyOf), complete: true }),
		);
		const updates = await reading;
		expect(updates.map(({ changed, complete }) => `${changed.length} ${complete}`).slice(0, 2)).toEqual([
			"100 false",
			"50 true",
		]);
		expect(updates[0]?.histories).toBeUndefined();
		expect(toldOf(updates)).toEqual(names.filter((name) => name !== "db-1").map(historyOf));
	});

	test("nor through another member, where nobody asks again", async () => {
		const { local: other, feed } = fedCluster();
		const member = { ...other, id: "another-id", name: "eu-2" };
		const agent = await serve({ members: [member], refusal: () => "No right to db" });
		const caller = agent.asCaller({ id: "another-id", name: "eu-2" });
		const reading = readUntil(caller, (updates) => updates.at(-1)?.complete === true);
		await feed(update({ changed: [watched("db", 3)], complete: true }));
		expect((await reading)[0]?.changed[0]?.state).toEqual({ unknown: "No right to db" });
	});

	test("ends with the caller's token", async () => {
		const { local, feed, readers } = fedCluster();
		let judged: CallerVerdict = { kind: "authenticated", caller: buildTokenCaller() };
		// Waits of 15 s end at once. All others take their time.
		const clock = {
			now: () => systemClock.now(),
			after: (ms: number, run: () => void) => systemClock.after(ms === 15_000 ? 1 : ms, run),
		};
		const agent = await serve({ local, clock, judge: () => judged });
		const watching = agent.asCaller().watchBudgets([], {
			signal: never,
			onUpdate() {
				judged = { kind: "unauthenticated", reason: "The token has expired" };
			},
		});
		await feed(update({ complete: true }));
		await expect(watching).rejects.toEqual(new AgentForbiddenError("The token has expired"));
		expect(readers.size).toBe(0);
		expect(agent.audit.join("")).toContain("The token has expired");
	});

	test("ends when the agent stops, and when its connection does", async () => {
		const { local, feed, readers } = fedCluster();
		const agent = await serve({ local });
		for (const end of [
			() => agent.stopping.abort(new AgentUnavailableError("The agent is shutting down", "eu-1")),
			() => agent.renewConnections(0),
		].toReversed()) {
			const watching = agent.asCaller().watchBudgets([], { signal: never, onUpdate: () => end() });
			const ended = watching.catch((error: unknown) => error);
			await feed(update({ complete: true }));
			expect(await ended).toBeInstanceOf(AgentUnavailableError);
			await expect.poll(() => readers.size).toBe(0);
		}
		expect(agent.log.filter((line) => line.includes("by a bug"))).toEqual([]);
	});

	test("takes no more watches of one token than a fleet has members", async () => {
		const { local } = fedCluster();
		const openCalls = new OpenCalls("eu-1");
		for (let open = 0; open < 40; open += 1) openCalls.beginWatch(buildTokenCaller());
		const caller = (await serve({ local, openCalls })).asCaller();
		await expect(caller.watchBudgets([], { signal: never, onUpdate: ignore })).rejects.toThrow(
			"this token has as many open as one may have",
		);
	});

	test("ends with more budgets than anybody has, whoever made them up", async () => {
		const { local, feed, readers } = fedCluster();
		const agent = await serve({ local });
		const watching = agent.asCaller().watchBudgets([], { signal: never, onUpdate: ignore });
		const ended = watching.catch((error: unknown) => error);
		await feed(update({ changed: Array.from({ length: 10_001 }, (_, at) => watched(`db-${at}`, 1)) }));
		expect(await ended).toBeInstanceOf(AgentProtocolError);
		expect(readers.size).toBe(0);
	});

	test("refuses namespaces that are none", async () => {
		const caller = (await serve({ local: fedCluster().local })).asCaller();
		const watching = caller.watchBudgets(["../x"], { signal: never, onUpdate: ignore });
		await expect(watching).rejects.toBeInstanceOf(AgentProtocolError);
	});

	test("says where the member that is asked for is older than watches", async () => {
		const agent = await serve({ local: createFakeCluster() });
		expect(await agent.asCaller().watchBudgets([], { signal: never, onUpdate: ignore })).toEqual({
			kind: "unsupported",
		});
		const text = await agent.metrics.registry.metrics();
		expect(text).toContain(
			`xpdb_call_seconds_count{method="WatchBudgets",port="token",code="${status[status.UNIMPLEMENTED]}"} 1`,
		);
	});

	test("is measured until everything is told", async () => {
		const { local, feed } = fedCluster();
		const agent = await serve({ local });
		const reading = readUntil(agent.asCaller(), (updates) => updates.length === 2);
		await feed(update({ complete: true }));
		await expect
			.poll(() => agent.metrics.registry.metrics())
			.toContain('xpdb_call_seconds_count{method="WatchBudgets",port="token",code="OK"} 1');
		await feed(update({ complete: true }));
		await reading;
	});
});

describe("readWatch()", () => {
	test("gives up an agent that shows no sign of life", async () => {
		const { local, feed } = fedCluster();
		const caller = (await serve({ local })).asCaller({ deadlineMs: 300 });
		const watching = caller.watchBudgets([], { signal: never, onUpdate: ignore });
		const ended = watching.catch(String);
		await feed(update({ complete: true }));
		expect(await ended).toContain("0.3 s");
	});

	test("takes no answer of another cluster", async () => {
		const { local, feed } = fedCluster();
		const lying = { ...local, id: "another-id" };
		const agent = await serve({ local: lying });
		const watching = agent.asCaller({ id: "" }).watchBudgets([], { signal: never, onUpdate: ignore });
		const ended = watching.catch(String);
		await feed(update({ complete: true }));
		expect(await ended).toContain("asked for cluster id");
	});

	test("takes no count of another cluster", async () => {
		const { local, feed } = fedCluster();
		const caller = (await serve({ local })).asCaller();
		const told: BudgetsUpdate[] = [];
		const watching = caller.watchBudgets([], { signal: never, onUpdate: (next) => void told.push(next) });
		const ended = watching.catch(String);
		const { budget, state } = watched("db", 3);
		await feed(update({ changed: [{ budget, state: { ...state, clusterId: "another-id" } }], complete: true }));
		expect(await ended).toContain('asked for cluster id "');
		expect(told).toEqual([]);
	});
});
