import { describe, expect, test } from "vitest";
import type { BudgetName } from "../../disruption/budget.ts";
import { budgetTerms } from "../../disruption/budget-terms.ts";
import type { MemberBudget } from "../../disruption/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import {
	type CurrentBudgets,
	carryOut,
	type EvictionAnswer,
	type Evictor,
	type Ticket,
} from "../../disruption/eviction.ts";
import { fleetHash } from "../../disruption/fleet.ts";
import { acquired, committed, leaseDurationMs, marked, withoutReservations } from "../../disruption/lease.ts";
import { budget, podReference } from "../support/build-count.ts";
import { newGrant } from "../support/build-lease.ts";
import { createManualRuntime } from "./manual-runtime.ts";
import { ScriptedCluster } from "./scripted-cluster.ts";

type Found = Awaited<ReturnType<Evictor<string>["read"]>>;

const zone: BudgetName = { namespace: "shop", name: "zone-a" };
const refused: EvictionAnswer<string> = { kind: "refused", refusal: "429: budget native needs 2" };
const conflict: EvictionAnswer<string> = { kind: "conflict" };
const unknown: EvictionAnswer<string> = { kind: "unknown", error: new Error("timeout") };

/** A pod that is granted under these budgets at version 100, and an API server that answers as told, "accepted" at last. */
function setUp(
	options: {
		readonly answers?: readonly EvictionAnswer<string>[];
		/** The nth read. */
		readonly found?: Found | ((read: number) => Found);
		readonly changesEveryMs?: number;
		readonly ageMs?: number;
		readonly budgets?: readonly BudgetName[];
		/** What the members say of the namespace each time they are asked, and so long as that takes; else what was counted. */
		readonly listed?: (list: number) => { readonly budgets?: readonly MemberBudget[]; readonly tookMs?: number };
		/** What each eviction waits for before it is written. */
		readonly beforeSending?: (attempt: number) => number;
	} = {},
) {
	const calls: string[] = [];
	const cluster = new ScriptedCluster("eu", calls);
	const budgets = options.budgets ?? [budget];
	for (const name of budgets) {
		cluster.change(name, (lease) =>
			committed(
				acquired(lease, { holder: "drain-7f", nonce: "n", durationMs: leaseDurationMs }),
				[newGrant("db-0")],
				0,
			),
		);
	}
	const manual = createManualRuntime();
	let passedMs = 0;
	const runtime = { ...manual, now: () => manual.now() + passedMs };
	const asCounted = budgets.map(
		(name): MemberBudget => ({ name, spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 } }),
	);
	const member = { clusterId: "eu", clusterName: "eu", fleetHash: fleetHash(["eu"]) };
	let lists = 0;
	const current: CurrentBudgets = {
		async list(namespace) {
			lists += 1;
			const askedAt = runtime.now();
			const { budgets: found = asCounted, tookMs = 0 } = options.listed?.(lists) ?? {};
			passedMs += tookMs;
			return { askedAt, namespaces: [namespace], members: [{ ...member, budgets: found }] };
		},
		memberIds: () => ["eu"],
	};
	const ticket: Ticket = {
		clusterId: "eu",
		pod: podReference("db-0"),
		id: "id-db-0",
		budgets,
		terms: budgets.map((name) => budgetTerms(name, [{ ...member, budgets: asCounted }])),
		resourceVersion: "100",
		...(options.changesEveryMs !== undefined && { changesEveryMs: options.changesEveryMs }),
		labels: { app: "db" },
		grantedAt: runtime.now() - (options.ageMs ?? 0),
	};
	const answers = [...(options.answers ?? [])];
	let reads = 0;
	let attempts = 0;
	const evictor: Evictor<string> = {
		async evict(pod, { uid, resourceVersion }, id, guard) {
			attempts += 1;
			passedMs += options.beforeSending?.(attempts) ?? 0;
			if (!guard()) {
				calls.push("not sent");
				return { kind: "notSent" };
			}
			calls.push(`evict ${pod.name} ${uid} ${resourceVersion} ${id}`);
			return answers.shift() ?? { kind: "accepted" };
		},
		async read() {
			calls.push("read");
			reads += 1;
			const { found } = options;
			if (typeof found === "function") return found(reads);
			return (
				found ?? { kind: "present", resourceVersion: String(100 + reads), labels: { app: "db" }, preActivities: [] }
			);
		},
	};
	const reservations = (name: BudgetName = budget) => cluster.lease(name).state.reservations.length;
	const run = () => carryOut(ticket, cluster, evictor, current, runtime);
	return { calls, cluster, runtime: manual, evictor, reservations, run };
}

describe("carryOut() with a fresh ticket", () => {
	test("evicts with the uid and the version that were granted, and asks nobody first", async () => {
		const { run, calls, reservations } = setUp();
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["evict db-0 uid-db-0 100 id-db-0"]);
		expect(reservations()).toBe(1);
	});

	test("is done where the pod is gone already", async () => {
		const { run, calls } = setUp({ answers: [{ kind: "gone" }] });
		expect(await run()).toEqual({ kind: "gone" });
		expect(calls).toHaveLength(1);
	});

	test("is still fresh after a second", async () => {
		const { run, calls } = setUp({ ageMs: 1_000 });
		await run();
		expect(calls).toHaveLength(1);
	});

	test("cancels the long way where somebody else refuses, in the Lease of every budget", async () => {
		const { run, calls, reservations } = setUp({ answers: [refused], budgets: [budget, zone] });
		expect(await run()).toEqual(refused);
		expect(calls.slice(1)).toEqual(["eu cancel sent", "eu cancel sent"]);
		expect([reservations(budget), reservations(zone)]).toEqual([0, 0]);
	});

	test("still says who refused where the cancel fails, and reports that", async () => {
		const { run, cluster, reservations, runtime } = setUp({ answers: [refused] });
		cluster.before.cancel = () => {
			throw new AgentUnavailableError("Cannot reach the agent of eu-1", "eu-1");
		};
		expect(await run()).toEqual(refused);
		expect(runtime.leftBehind).toMatchObject([{ cluster: "eu-1" }]);
		delete cluster.before.cancel;
		await runtime.giveBack();
		expect(reservations(budget)).toBe(0);
	});
});

describe("carryOut() with an old ticket, or after a conflict", () => {
	test("reads, then confirms, then evicts with the version that it read", async () => {
		const { run, calls } = setUp({ ageMs: 1_001 });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	test("does so again after each conflict", async () => {
		const { run, calls } = setUp({ answers: [conflict, conflict] });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual([
			"evict db-0 uid-db-0 100 id-db-0",
			"read",
			"eu confirm",
			"evict db-0 uid-db-0 101 id-db-0",
			"read",
			"eu confirm",
			"evict db-0 uid-db-0 102 id-db-0",
		]);
	});

	test("confirms in the Leases of all budgets", async () => {
		const { run, calls } = setUp({ ageMs: 5_000, budgets: [budget, zone] });
		await run();
		expect(calls).toEqual(["read", "eu confirm", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	const found: readonly { readonly name: string; readonly found: Found; readonly kind: string }[] = [
		{ name: "is done where the pod is gone or replaced", found: { kind: "gone" }, kind: "gone" },
		{ name: "is done where the pod terminates", found: { kind: "terminating" }, kind: "accepted" },
	];
	for (const { name, found: answer, kind } of found) {
		test(name, async () => {
			const { run, calls } = setUp({ ageMs: 5_000, found: answer });
			expect(await run()).toEqual({ kind });
			expect(calls).toEqual(["read"]);
		});
	}

	const losses = [
		{
			name: "was cancelled",
			step: (lease: Parameters<typeof marked>[0]) => withoutReservations(lease, new Set(["id-db-0"])),
		},
		{ name: "is being cancelled", step: (lease: Parameters<typeof marked>[0]) => marked(lease, new Set(["id-db-0"])) },
	];
	for (const { name, step } of losses) {
		test(`sends nothing where the reservation ${name}`, async () => {
			const { run, calls, cluster } = setUp({ ageMs: 5_000 });
			cluster.change(budget, step);
			expect(await run()).toEqual({
				kind: "conflict",
				message: "pod shop/db-0 lost its reservation before it was evicted",
			});
			expect(calls).toEqual(["read", "eu confirm", "eu cancel sent"]);
		});
	}

	test("sends nothing to a pod that got other labels since it was counted, and cancels", async () => {
		const found = {
			kind: "present",
			resourceVersion: "101",
			labels: { app: "db", tier: "gold" },
			preActivities: [],
		} as const;
		const { run, reservations, calls } = setUp({ ageMs: 5_000, found });
		expect(await run()).toEqual({ kind: "conflict", message: "pod shop/db-0 got other labels before it was evicted" });
		expect(calls).toEqual(["read", "eu cancel sent"]);
		expect(reservations()).toBe(0);
	});

	test("sends nothing to a pod that was given a pre-activity since it was counted, and cancels", async () => {
		const found = {
			kind: "present",
			resourceVersion: "101",
			labels: { app: "db" },
			preActivities: ["backup"],
		} as const;
		const { run, reservations } = setUp({ answers: [conflict], found });
		const message = "pod shop/db-0 got the pre-activity backup before it was evicted";
		expect(await run()).toEqual({ kind: "conflict", message });
		expect(reservations()).toBe(0);
	});

	test("sends nothing where the reservation stands under one of two budgets only", async () => {
		const { run, calls, cluster } = setUp({ ageMs: 5_000, budgets: [budget, zone] });
		cluster.change(zone, (lease) => marked(lease, new Set(["id-db-0"])));
		expect(await run()).toMatchObject({ kind: "conflict" });
		expect(calls.some((call) => call.startsWith("evict"))).toBe(false);
	});

	test("sends nothing where nobody can be asked whether it stands", async () => {
		const { run, calls, cluster } = setUp({ ageMs: 5_000 });
		cluster.before.confirm = () => {
			throw new AgentUnavailableError("Cannot reach the agent of eu-1", "eu-1");
		};
		await expect(run()).rejects.toThrow(AgentUnavailableError);
		expect(calls).toEqual(["read", "eu confirm"]);
	});

	test("sends nothing under a ticket of no budget", async () => {
		const { run } = setUp({ ageMs: 5_000, budgets: [] });
		expect(await run()).toMatchObject({ kind: "conflict" });
	});

	test("cancels after eight conflicts: the next round sees a newer version", async () => {
		const { run, calls, reservations } = setUp({ answers: Array.from({ length: 8 }, () => conflict) });
		expect(await run()).toEqual({
			kind: "conflict",
			message: "pod shop/db-0 changed 8 times while it was being evicted",
		});
		expect(calls.filter((call) => call.startsWith("evict"))).toHaveLength(8);
		expect(calls.at(-1)).toBe("eu cancel sent");
		expect(reservations()).toBe(0);
	});
});

describe("carryOut() of a grant that has grown old", () => {
	const spec = (more: object) => ({ selector: { matchLabels: { app: "db" } }, maxUnavailable: 1, ...more });
	const other: BudgetName = { namespace: "shop", name: "later" };

	test("is not sent where it grows old while it waits, and is confirmed before it goes", async () => {
		const { run, calls } = setUp({ beforeSending: (attempt) => (attempt === 1 ? 1_001 : 0) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["not sent", "read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	test("is not sent by lists that grow old while it waits", async () => {
		const { run, calls } = setUp({ ageMs: 1_001, beforeSending: (attempt) => (attempt === 1 ? 1_001 : 0) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "eu confirm", "not sent", "read", "eu confirm", "evict db-0 uid-db-0 102 id-db-0"]);
	});

	test("is given back where it always waits for too long", async () => {
		const { run, calls, reservations } = setUp({ beforeSending: () => 1_001 });
		expect(await run()).toEqual({
			kind: "conflict",
			message: "the eviction of pod shop/db-0 waited for too long 8 times before it could be sent",
		});
		expect(calls.filter((call) => call === "not sent")).toHaveLength(8);
		expect(calls.at(-1)).toBe("eu cancel sent");
		expect(reservations()).toBe(0);
	});

	test("goes by a list that is asked for again where the reservation took long to be read", async () => {
		const { run, calls } = setUp({ ageMs: 1_001, listed: (list) => (list === 1 ? { tookMs: 1_400 } : {}) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	const lost: readonly {
		readonly name: string;
		readonly budgets?: readonly BudgetName[];
		readonly listed: { readonly budgets?: readonly MemberBudget[]; readonly tookMs?: number };
		readonly why: string;
	}[] = [
		{
			name: "got another budget",
			listed: {
				budgets: [
					{ name: budget, spec: spec({}) },
					{ name: other, spec: spec({}) },
				],
			},
			why: "got the budget shop/later",
		},
		{
			name: "has a budget that allows something else",
			listed: { budgets: [{ name: budget, spec: spec({ maxUnavailable: 0 }) }] },
			why: "got other terms from budget shop/db",
		},
		{
			name: "has a budget that was suspended when it was counted",
			listed: { budgets: [{ name: budget, spec: spec({ suspend: true }) }] },
			why: "got other terms from budget shop/db",
		},
		{
			name: "has a budget that needs what was not looked at",
			listed: { budgets: [{ name: budget, spec: spec({ probe: { endpoint: "x" } }) }] },
			why: "got other terms from budget shop/db",
		},
		{
			name: "has a budget whose bound cannot be read any more",
			listed: { budgets: [{ name: budget, spec: spec({ maxUnavailable: "many" }) }] },
			why: "got other terms from budget shop/db",
		},
		{
			name: "has a budget whose selector cannot be read any more",
			listed: { budgets: [{ name: budget, spec: spec({ selector: 5 }) }] },
			why: "may be covered by budget shop/db, which cannot be read,",
		},
		{ name: "has none any more", listed: { budgets: [] }, why: "was left by its budgets" },
		{
			name: "lost one of two",
			budgets: [budget, zone],
			listed: { budgets: [{ name: zone, spec: spec({}) }] },
			why: "was left by budget shop/db",
		},
		{ name: "takes too long to be judged", listed: { tookMs: 1_001 }, why: "could not be judged in time" },
	];
	test.each(lost)("is given back where the pod $name", async ({ budgets, listed, why }) => {
		const { run, calls, reservations } = setUp({ ageMs: 1_001, ...(budgets && { budgets }), listed: () => listed });
		expect(await run()).toEqual({ kind: "conflict", message: `pod shop/db-0 ${why} before it was evicted` });
		expect(calls.filter((call) => call.startsWith("evict"))).toEqual([]);
		expect(calls.at(-1)).toBe("eu cancel sent");
		expect(reservations()).toBe(0);
	});
});

describe("carryOut() of a pod that somebody keeps changing", () => {
	const present = (resourceVersion: string): Found => ({
		kind: "present",
		resourceVersion,
		labels: { app: "db" },
		preActivities: [],
	});

	test("evicts right after a change, with the version of that change, once it has confirmed", async () => {
		const { run, calls, runtime } = setUp({ changesEveryMs: 200, found: (read) => present(read < 4 ? "105" : "106") });
		const running = run();
		await runtime.advance(200);
		expect(await running).toEqual({ kind: "accepted" });
		expect(calls).toEqual([...Array<string>(4).fill("read"), "eu confirm", "evict db-0 uid-db-0 106 id-db-0"]);
	});

	test("waits for no change that does not come", async () => {
		const { run, calls, runtime } = setUp({ changesEveryMs: 200, found: present("105") });
		const running = run();
		await runtime.advance(450);
		expect(await running).toEqual({ kind: "accepted" });
		expect(calls.slice(-2)).toEqual(["eu confirm", "evict db-0 uid-db-0 105 id-db-0"]);
	});

	test("waits for the next change where confirming took too long", async () => {
		const { run, calls, cluster, runtime } = setUp({
			changesEveryMs: 200,
			found: (read) => present(String(100 + read)),
		});
		const confirm = cluster.confirm.bind(cluster);
		let slow = true;
		cluster.confirm = async (...args) => {
			if (slow) await runtime.sleep(60, new AbortController().signal);
			slow = false;
			return confirm(...args);
		};
		const running = run();
		await runtime.advance(400);
		expect(await running).toEqual({ kind: "accepted" });
		const once = ["read", "read", "eu confirm"];
		expect(calls).toEqual([...once, ...once, "evict db-0 uid-db-0 104 id-db-0"]);
	});

	test("is done where the pod goes meanwhile", async () => {
		const { run, calls, runtime } = setUp({
			changesEveryMs: 200,
			found: (read) => (read === 1 ? present("105") : { kind: "terminating" }),
		});
		const running = run();
		await runtime.advance(100);
		expect(await running).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "read"]);
	});
});

describe("carryOut() without a clear answer", () => {
	test("looks what became of it, and evicts again where it did not happen", async () => {
		const { run, calls } = setUp({ answers: [unknown] });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["evict db-0 uid-db-0 100 id-db-0", "read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	test("is done where it did happen", async () => {
		const { run, calls } = setUp({ answers: [unknown], found: { kind: "terminating" } });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["evict db-0 uid-db-0 100 id-db-0", "read"]);
	});

	test("leaves the reservation standing where it stays unclear: the request may still be on its way", async () => {
		const { run, calls, reservations } = setUp({ answers: Array.from({ length: 8 }, () => unknown) });
		expect(await run()).toMatchObject({ kind: "unknown", error: { message: "timeout" } });
		expect(calls).not.toContain("eu cancel sent");
		expect(reservations()).toBe(1);
	});

	test("takes the long way back where it is refused after an unclear answer", async () => {
		const { run, calls } = setUp({ answers: [unknown, refused] });
		expect(await run()).toEqual(refused);
		expect(calls.at(-1)).toBe("eu cancel sent");
	});
});
