import { describe, expect, test } from "vitest";
import type { Count } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import { type RowChanges, watchBudgets } from "../../../plugin/fleet/budget-watch.ts";
import type { HealthyHistories } from "../../../plugin/fleet/healthy-history.ts";
import type { BudgetHistory, BudgetsUpdate, WatchedBudget, WatchOptions } from "../../../proto/agent-cluster.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { settle } from "../../support/simulated-agent.ts";

const names = ["eu", "us"];
const hash = fleetHash(names);

function countOf(cluster: string, healthy: number, budgetName = "db"): WatchedBudget & { readonly state: Count } {
	const budget = {
		name: { namespace: "shop", name: budgetName },
		spec: { selector: { matchLabels: { app: budgetName } }, maxUnavailable: 1 },
	};
	return {
		budget,
		state: {
			clusterId: cluster,
			clusterName: cluster,
			fleetHash: hash,
			features: [],
			budgets: [budget],
			expected: { kind: "known", pods: 3 },
			healthy,
			candidates: [],
			unavailable: [],
		},
	};
}

const update = (more: Partial<BudgetsUpdate>): BudgetsUpdate => ({ changed: [], gone: [], complete: true, ...more });

function watchedFleet({ unsupported = "" }: { readonly unsupported?: string } = {}) {
	const clock = createManualClock();
	const open = new Map<
		string,
		{ readonly onUpdate: WatchOptions["onUpdate"]; readonly reject: (error: Error) => void }
	>();
	const opened: string[] = [];
	const healthy = new Map(names.map((name) => [name, 3]));
	const members = names.map((name) =>
		createFakeCluster(
			{
				listBudgets: async () => ({ clusterId: name, fleetHash: hash, budgets: [countOf(name, 3).budget] }),
				look: async () => countOf(name, healthy.get(name) ?? 0).state,
				watchBudgets: async (_, { signal, onUpdate }) => {
					opened.push(name);
					if (name === unsupported) return { kind: "unsupported" };
					return new Promise((__, reject) => {
						open.set(name, { onUpdate, reject });
						signal.addEventListener("abort", () => reject(signal.reason));
					});
				},
			},
			name,
			name,
		),
	);
	const changes: RowChanges[] = [];
	const histories: HealthyHistories[] = [];
	const end = new AbortController();
	const pause = (ms: number, signal: AbortSignal): Promise<void> =>
		new Promise((resolve, reject) => {
			clock.after(ms, resolve);
			signal.addEventListener("abort", () => reject(signal.reason));
		});
	const running = watchBudgets({
		fleet: { members, reconnect: async () => undefined },
		namespaces: [],
		clock: { now: () => clock.now(), pause },
		signal: end.signal,
		onChanges: (next) => void changes.push(next),
		onHistories: (next) => void histories.push(next),
	});
	const pass = async (ms: number): Promise<void> => {
		for (let passed = 0; passed < ms; passed += 50) {
			clock.advance(50);
			await settle();
		}
	};
	return {
		changes,
		histories,
		opened,
		members,
		healthy,
		pass,
		tell: async (name: string, next: Partial<BudgetsUpdate>) => {
			open.get(name)?.onUpdate(update(next));
			await pass(300);
		},
		breakOff: async (name: string) => {
			open.get(name)?.reject(new AgentUnavailableError("the agent was killed", name));
			await settle();
		},
		/** Returns "ALLOWED:HEALTHY" for each change of shop/db. */
		rows: () =>
			changes.flatMap(({ changed }) =>
				changed.filter(({ name }) => name === "db").map((row) => `${row.allowed ?? "?"}:${row.healthy ?? "?"}`),
			),
		stop: async () => {
			end.abort(new Error("over"));
			await running;
		},
	};
}

async function begun() {
	const fleet = watchedFleet();
	await fleet.pass(50);
	await fleet.tell("eu", { changed: [countOf("eu", 3)] });
	await fleet.tell("us", { changed: [countOf("us", 3)] });
	return fleet;
}

describe("watchBudgets()", () => {
	test("tells the first rows when every member has told all, as the table has them", async () => {
		const fleet = watchedFleet();
		await fleet.pass(50);
		await fleet.tell("eu", { changed: [countOf("eu", 3)] });
		expect(fleet.changes).toEqual([]);
		await fleet.tell("us", { changed: [countOf("us", 3)] });
		expect(fleet.changes).toHaveLength(1);
		expect(fleet.changes[0]?.changed).toMatchObject([
			{ name: "db", allowed: 1, healthy: 6, need: 5, expected: 6, problem: undefined },
		]);
		await fleet.stop();
	});

	test("tells what changes, at most four times a second, and nothing where nothing does", async () => {
		const fleet = await begun();
		for (let healthy = 0; healthy < 20; healthy += 1) {
			fleet.members[0]?.asked.splice(0);
			await fleet.tell("eu", { changed: [countOf("eu", healthy % 3)] });
		}
		await fleet.tell("eu", { changed: [countOf("eu", 1)] });
		await fleet.tell("eu", {});
		expect(fleet.rows().slice(0, 3)).toEqual(["1:6", "0:3", "0:4"]);
		expect(fleet.rows()).toHaveLength(21);
		await fleet.stop();
	});

	test("keeps the numbers of a member whose agent was killed while another tells them soon", async () => {
		const fleet = await begun();
		await fleet.breakOff("eu");
		await fleet.pass(1_000);
		expect(fleet.opened).toEqual(["eu", "us", "eu"]);
		await fleet.tell("eu", { changed: [countOf("eu", 2)] });
		expect(fleet.rows()).toEqual(["1:6", "0:5"]);
		await fleet.stop();
	});

	test("shows a member that is gone as unknown after five seconds, and never its old number for a new one", async () => {
		const fleet = await begun();
		await fleet.breakOff("eu");
		await fleet.pass(7_000);
		expect(fleet.rows()).toEqual(["1:6", "?:?"]);
		expect(fleet.changes.at(-1)?.members[0]).toEqual({ name: "eu", problem: "the agent was killed", isPolled: false });
		// The member is back, but has not reported the budget yet.
		await fleet.tell("eu", { complete: false });
		expect(fleet.rows().at(-1)).toBe("?:?");
		await fleet.tell("eu", { changed: [countOf("eu", 3)] });
		// The two rows with "?" have different reasons.
		expect(fleet.rows()).toEqual(["1:6", "?:?", "?:?", "1:6"]);
		await fleet.stop();
	});

	test("shows what an agent does not know itself as unknown at once", async () => {
		const fleet = await begun();
		await fleet.tell("us", { complete: false, unknown: "the watches of its agent show no sign of life" });
		expect(fleet.rows()).toEqual(["1:6", "?:?"]);
		await fleet.tell("us", { changed: [countOf("us", 3)] });
		expect(fleet.rows()).toEqual(["1:6", "?:?", "1:6"]);
		await fleet.stop();
	});

	describe("what was in the last hour", () => {
		const past = (...healthy: readonly number[]): Partial<BudgetsUpdate> => {
			const history: BudgetHistory = {
				budget: { namespace: "shop", name: "db" },
				lastAt: 60 * healthy.length,
				everySeconds: 60,
				healthy,
			};
			return { histories: [history] };
		};

		test("is told when every member's agents have told theirs, and without another row", async () => {
			const fleet = await begun();
			await fleet.tell("eu", past(3, 2));
			expect(fleet.histories).not.toEqual([]);
			expect(fleet.histories.at(-1)?.get("shop/db")).toBeUndefined();
			await fleet.tell("us", past(3, 3));
			expect(fleet.histories.at(-1)?.get("shop/db")).toEqual({ lastAt: 120, everySeconds: 60, healthy: [6, 5] });
			expect(fleet.changes).toHaveLength(1);
			await fleet.stop();
		});

		test("may be told before the budget itself is", async () => {
			const fleet = watchedFleet();
			await fleet.pass(50);
			for (const name of names) {
				await fleet.tell(name, { complete: false, ...past(3, 2) });
				await fleet.tell(name, { changed: [countOf(name, 3)] });
			}
			expect(fleet.histories.at(-1)?.get("shop/db")?.healthy).toEqual([6, 4]);
			await fleet.stop();
		});

		test("stands while a member says that it knows nothing, and across another of its agents", async () => {
			const fleet = await begun();
			await fleet.tell("eu", past(3, 2));
			await fleet.tell("us", past(3, 3));
			await fleet.tell("us", { complete: false, unknown: "the watches of its agent show no sign of life" });
			await fleet.breakOff("eu");
			const [history] = past(3, 2, 1).histories ?? [];
			await fleet.tell("eu", { changed: [countOf("eu", 3)] });
			await fleet.tell("us", { changed: [countOf("us", 3)], ...past(3, 3, 3) });
			// This history began a minute ago.
			await fleet.tell("eu", history ? { histories: [{ ...history, healthy: [1] }] } : {});
			expect(fleet.histories.at(-1)?.get("shop/db")?.healthy).toEqual([6, 5, 4]);
			await fleet.stop();
		});

		test("ends with another selector: those were other pods", async () => {
			const fleet = await begun();
			await fleet.tell("eu", past(3, 2));
			await fleet.tell("us", past(3, 3));
			const { budget, state } = countOf("eu", 3);
			const spec = { selector: { matchLabels: { app: "other" } }, maxUnavailable: 1 };
			await fleet.tell("eu", { changed: [{ budget: { ...budget, spec }, state }] });
			expect(fleet.histories).not.toEqual([]);
			expect(fleet.histories.at(-1)?.get("shop/db")).toBeUndefined();
			await fleet.stop();
		});
	});

	test("has a budget gone when no member has it, also where it went while nobody listened", async () => {
		const fleet = await begun();
		await fleet.tell("eu", { gone: [{ namespace: "shop", name: "db" }] });
		expect(fleet.changes.flatMap(({ gone }) => gone)).toEqual([]);
		await fleet.breakOff("us");
		await fleet.pass(200);
		await fleet.tell("us", { changed: [countOf("us", 3, "web")] });
		expect(fleet.changes.flatMap(({ gone }) => gone)).toEqual([{ namespace: "shop", name: "db" }]);
		await fleet.stop();
	});

	test("asks a member that does not have the budget for its count, and goes on asking", async () => {
		const fleet = watchedFleet();
		await fleet.pass(50);
		await fleet.tell("eu", { changed: [countOf("eu", 3)] });
		await fleet.tell("us", {});
		expect(fleet.rows()).toEqual(["1:6"]);
		fleet.healthy.set("us", 1);
		await fleet.pass(5_000);
		expect(fleet.rows()).toEqual(["1:6", "0:4"]);
		await fleet.stop();
	});

	test("asks it no second time while it owes an answer", async () => {
		const fleet = watchedFleet();
		let asked = 0;
		Object.assign(fleet.members[1] ?? {}, {
			look: () => {
				asked += 1;
				return new Promise(() => undefined);
			},
		});
		await fleet.pass(50);
		await fleet.tell("eu", { changed: [countOf("eu", 3)] });
		await fleet.tell("us", {});
		await fleet.pass(7_000);
		expect(asked).toBe(1);
		await fleet.stop();
	});

	test("asks the agents of a member that are older than watches, and says so", async () => {
		const fleet = watchedFleet({ unsupported: "us" });
		await fleet.pass(50);
		await fleet.tell("eu", { changed: [countOf("eu", 3)] });
		expect(fleet.rows()).toEqual(["1:6"]);
		expect(fleet.changes[0]?.members[1]).toEqual({ name: "us", problem: undefined, isPolled: true });
		fleet.healthy.set("us", 2);
		await fleet.pass(6_000);
		expect(fleet.rows()).toEqual(["1:6", "0:5"]);
		await fleet.stop();
	});
});
