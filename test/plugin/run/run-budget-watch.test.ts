import { describe, expect, test } from "vitest";
import type { UnavailablePod } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { RunBudgetWatch } from "../../../plugin/run/run-budget-watch.ts";
import type { WatchedBudget, WatchOptions } from "../../../proto/agent-cluster.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { settle } from "../../support/simulated-agent.ts";

const names = ["eu", "us"];
const holder = "alice@laptop drain 7f3c2a";

function counted(
	cluster: string,
	healthy: number,
	{ budget: name = "shop/db", unavailable = [] }: { budget?: string; unavailable?: readonly UnavailablePod[] } = {},
): WatchedBudget {
	const [namespace = "", own = ""] = name.split("/");
	const budget = {
		name: { namespace, name: own },
		spec: { selector: { matchLabels: { app: own } }, maxUnavailable: 1 },
	};
	return {
		budget,
		state: {
			clusterId: cluster,
			clusterName: cluster,
			fleetHash: fleetHash(names),
			features: [],
			budgets: [budget],
			expected: { kind: "known", pods: 3 },
			healthy,
			candidates: [],
			unavailable,
		},
	};
}

const evicting = (budget: string): RunEvent => ({
	type: "pod.evicting",
	context: "eu",
	namespace: "shop",
	pod: "db-0",
	dryRun: "none",
	deletes: false,
	budgets: [budget],
	attempt: 1,
});

function watchedRun() {
	const clock = createManualClock();
	const open = new Map<string, WatchOptions["onUpdate"]>();
	const rejects = new Map<string, (error: Error) => void>();
	const asked: string[] = [];
	const members = names.map((name) =>
		createFakeCluster(
			{
				watchBudgets: (namespaces, { signal, onUpdate }) => {
					if (name === "eu") asked.push(namespaces.join());
					return new Promise((_, reject) => {
						open.set(name, onUpdate);
						rejects.set(name, reject);
						signal.addEventListener("abort", () => reject(signal.reason));
					});
				},
			},
			name,
			name,
		),
	);
	const events: RunEvent[] = [];
	const budgets = new RunBudgetWatch((event) => void events.push(event));
	const pause = (ms: number, signal: AbortSignal): Promise<void> =>
		new Promise((resolve, reject) => {
			clock.after(ms, resolve);
			signal.addEventListener("abort", () => reject(signal.reason));
		});
	budgets.begin({ fleet: { members }, holder, clock: { now: () => clock.now(), pause } });
	const pass = async (ms: number): Promise<void> => {
		for (let passed = 0; passed < ms; passed += 50) {
			clock.advance(50);
			await settle();
		}
	};
	return {
		budgets,
		events,
		asked,
		pass,
		tell: async (name: string, ...changed: readonly WatchedBudget[]) => {
			open.get(name)?.({ changed, gone: [], complete: true });
			await pass(300);
		},
		breakOff: async (name: string) => {
			rejects.get(name)?.(new AgentUnavailableError("the agent was killed", name));
			await settle();
		},
		/** Returns the reports about budgets, as "NAME HEALTHY/LEFT" or "NAME ?". */
		told: () =>
			events.flatMap((event) => {
				if (event.type === "budget.unknown") return `${event.budget} ?`;
				return event.type === "budget.changed" ? `${event.budget} ${event.healthy}/${event.left}` : [];
			}),
	};
}

async function begun() {
	const run = watchedRun();
	run.budgets.see(evicting("shop/db"));
	await run.pass(1_100);
	await run.tell("eu", counted("eu", 3), counted("eu", 3, { budget: "shop/cart" }));
	await run.tell("us", counted("us", 3), counted("us", 3, { budget: "shop/cart" }));
	return run;
}

describe("RunBudgetWatch", () => {
	test("tells what becomes of the budgets that the run has met, with the pods that use them up", async () => {
		const run = await begun();
		expect(run.told()).toEqual(["shop/db 6/1"]);
		const reserved = { namespace: "shop", name: "db-0", why: "Reserved", holder } as const;
		const pending = { namespace: "shop", name: "db-1", why: "NotReady", state: "Pending" } as const;
		await run.tell("eu", counted("eu", 1, { unavailable: [reserved, pending] }));
		expect(run.events.at(-1)).toEqual({
			type: "budget.changed",
			budget: "shop/db",
			healthy: 4,
			need: 5,
			expected: 6,
			left: 0,
			clusters: [
				{ name: "eu", healthy: 1, expected: 3 },
				{ name: "us", healthy: 3, expected: 3 },
			],
			usedBy: [
				{ cluster: "eu", namespace: "shop", pod: "db-0", why: "Reserved", holder, own: true },
				{ cluster: "eu", namespace: "shop", pod: "db-1", why: "NotReady", state: "Pending" },
			],
		});
		await run.tell("eu", counted("eu", 3));
		expect(run.told().at(-1)).toBe("shop/db 6/1");
	});

	test("tells one that is met later by what is known of it already", async () => {
		const run = await begun();
		run.budgets.see({ ...evicting("shop/cart"), budgets: ["shop/cart"] } as RunEvent);
		await run.pass(1_100);
		expect(run.told()).toEqual(["shop/db 6/1", "shop/cart 6/1"]);
		expect(run.asked).toEqual(["shop"]);
	});

	test("watches another namespace as well once one of its budgets is met", async () => {
		const run = await begun();
		run.budgets.see(evicting("pay/api"));
		await run.pass(1_100);
		expect(run.asked).toEqual(["shop", "pay,shop"]);
		for (const name of names) await run.tell(name, counted(name, 3), counted(name, 2, { budget: "pay/api" }));
		expect(run.told()).toEqual(["shop/db 6/1", "pay/api 4/0"]);
	});

	test("tells nothing as counted after an eviction that may have been counted before it", async () => {
		const run = await begun();
		run.budgets.see(evicting("shop/db"));
		// This count was already under way.
		await run.tell("us", counted("us", 2));
		await run.pass(600);
		expect(run.told()).toEqual(["shop/db 6/1"]);
		await run.pass(200);
		expect(run.told()).toEqual(["shop/db 6/1", "shop/db 5/0"]);
		// A round may have reported another count since, so the same count is reported again.
		run.budgets.see(evicting("shop/db"));
		await run.pass(1_100);
		expect(run.told()).toEqual(["shop/db 6/1", "shop/db 5/0", "shop/db 5/0"]);
	});

	test("tells nothing older after what a round counted", async () => {
		const run = await begun();
		const counted2 = { type: "budget.changed", budget: "shop/db", healthy: 6, need: 5, expected: 6, left: 1 } as const;
		run.budgets.see({ ...counted2, clusters: [] });
		// This count was already under way.
		await run.tell("us", counted("us", 2));
		expect(run.told()).toEqual(["shop/db 6/1", "shop/db 6/1"]);
		// The watch's count still holds. The round's count was only momentary.
		await run.pass(800);
		expect(run.told().slice(2)).toEqual(["shop/db 5/0"]);
	});

	test("says when nobody knows, and when somebody does again", async () => {
		const run = await begun();
		await run.breakOff("us");
		await run.pass(8_000);
		expect(run.events.at(-1)).toEqual({
			type: "budget.unknown",
			budget: "shop/db",
			message: expect.stringMatching(/^us: .*the agent was killed/) as unknown,
		});
		await run.tell("us", counted("us", 3));
		expect(run.told()).toEqual(["shop/db 6/1", "shop/db ?", "shop/db 6/1"]);
	});

	test("tells nothing when the run is over, nor of a dry run", async () => {
		const run = watchedRun();
		run.budgets.see({ ...evicting("shop/db"), dryRun: "server" } as RunEvent);
		await run.pass(1_100);
		expect(run.asked).toEqual([]);
		run.budgets.see(evicting("shop/db"));
		await run.pass(1_100);
		run.budgets.end();
		await run.tell("eu", counted("eu", 3));
		await run.tell("us", counted("us", 3));
		expect(run.told()).toEqual([]);
	});
});
