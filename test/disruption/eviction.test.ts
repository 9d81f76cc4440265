import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { EvictionAnswer } from "../../disruption/round/ticket.ts";
import { marked, withoutReservations } from "../../disruption/lease/lease.ts";
import { budget } from "../support/build-count.ts";
import { type Found, foundPod, grantPod, zone } from "./granted-pod.ts";

const refused: EvictionAnswer<string> = { kind: "refused", refusal: "429: budget native needs 2" };
const conflict: EvictionAnswer<string> = { kind: "conflict" };
const unknown: EvictionAnswer<string> = { kind: "unknown", error: new Error("timeout") };

describe("evictUnderTicket() with a fresh ticket", () => {
	test("evicts with the uid and the version that were granted, and asks nobody first", async () => {
		const { run, calls, reservations } = grantPod();
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["evict db-0 uid-db-0 100 id-db-0"]);
		expect(reservations()).toBe(1);
	});

	test("sends nothing once it is held up, and cancels, however long the request waited", async () => {
		let isPaused = false;
		const beforeSending = (): number => {
			isPaused = true;
			return 0;
		};
		const { run, calls, reservations } = grantPod({ beforeSending, mayBeSent: () => !isPaused });
		expect(await run()).toEqual({ kind: "conflict", message: "the eviction of pod shop/db-0 was held up" });
		expect(calls).toEqual(["not sent", "eu cancel sent"]);
		expect(reservations()).toBe(0);
	});

	test("is done where the pod is gone already", async () => {
		const { run, calls } = grantPod({ answers: [{ kind: "gone" }] });
		expect(await run()).toEqual({ kind: "gone" });
		expect(calls).toHaveLength(1);
	});

	test("is still fresh after a second", async () => {
		const { run, calls } = grantPod({ ageMs: 1_000 });
		await run();
		expect(calls).toHaveLength(1);
	});

	test("cancels the long way where somebody else refuses, in the Lease of every budget", async () => {
		const { run, calls, reservations } = grantPod({ answers: [refused], budgets: [budget, zone] });
		expect(await run()).toEqual(refused);
		expect(calls.slice(1)).toEqual(["eu cancel sent", "eu cancel sent"]);
		expect([reservations(budget), reservations(zone)]).toEqual([0, 0]);
	});

	test("still says who refused where the cancel fails, and reports that", async () => {
		const { run, cluster, reservations, runtime } = grantPod({ answers: [refused] });
		cluster.before.cancel = () => {
			throw new AgentUnavailableError("cannot reach the agent of eu-1", "eu-1");
		};
		expect(await run()).toEqual(refused);
		expect(runtime.leftBehind).toMatchObject([{ cluster: "eu-1" }]);
		delete cluster.before.cancel;
		await runtime.giveBack();
		expect(reservations(budget)).toBe(0);
	});
});

describe("evictUnderTicket() with an old ticket, or after a conflict", () => {
	test("reads, then confirms, then evicts with the version that it read", async () => {
		const { run, calls } = grantPod({ ageMs: 1_001 });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	test("does so again after each conflict", async () => {
		const { run, calls } = grantPod({ answers: [conflict, conflict] });
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
		const { run, calls } = grantPod({ ageMs: 5_000, budgets: [budget, zone] });
		await run();
		expect(calls).toEqual(["read", "eu confirm", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	const found: readonly { readonly name: string; readonly found: () => Found; readonly kind: string }[] = [
		{ name: "is done where the pod is gone or replaced", found: () => undefined, kind: "gone" },
		{ name: "is done where the pod terminates", found: () => foundPod({ isTerminating: true }), kind: "accepted" },
	];
	for (const { name, found: answer, kind } of found) {
		test(name, async () => {
			const { run, calls } = grantPod({ ageMs: 5_000, found: answer });
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
			const { run, calls, cluster } = grantPod({ ageMs: 5_000 });
			cluster.change(budget, step);
			expect(await run()).toEqual({
				kind: "conflict",
				message: "pod shop/db-0 lost its reservation before it was evicted",
			});
			expect(calls).toEqual(["read", "eu confirm", "eu cancel sent"]);
		});
	}

	test("sends nothing to a pod that got other labels since it was counted, and cancels", async () => {
		const found = foundPod({ labels: { app: "db", tier: "gold" } });
		const { run, reservations, calls } = grantPod({ ageMs: 5_000, found });
		expect(await run()).toEqual({ kind: "conflict", message: "pod shop/db-0 got other labels before it was evicted" });
		expect(calls).toEqual(["read", "eu cancel sent"]);
		expect(reservations()).toBe(0);
	});

	test("sends nothing to a pod that was given a pre-activity since it was counted, and cancels", async () => {
		const found = foundPod({ preActivities: ["backup"] });
		const { run, reservations } = grantPod({ answers: [conflict], found });
		const message = "pod shop/db-0 got the pre-activity backup before it was evicted";
		expect(await run()).toEqual({ kind: "conflict", message });
		expect(reservations()).toBe(0);
	});

	test("sends nothing where the reservation stands under one of two budgets only", async () => {
		const { run, calls, cluster } = grantPod({ ageMs: 5_000, budgets: [budget, zone] });
		cluster.change(zone, (lease) => marked(lease, new Set(["id-db-0"])));
		expect(await run()).toMatchObject({ kind: "conflict" });
		expect(calls.some((call) => call.startsWith("evict"))).toBe(false);
	});

	test("sends nothing where nobody can be asked whether it stands", async () => {
		const { run, calls, cluster } = grantPod({ ageMs: 5_000 });
		cluster.before.confirm = () => {
			throw new AgentUnavailableError("cannot reach the agent of eu-1", "eu-1");
		};
		await expect(run()).rejects.toThrow(AgentUnavailableError);
		expect(calls).toEqual(["read", "eu confirm"]);
	});

	test("sends nothing under a ticket of no budget", async () => {
		const { run } = grantPod({ ageMs: 5_000, budgets: [] });
		expect(await run()).toMatchObject({ kind: "conflict" });
	});

	test("cancels after eight conflicts: the next round sees a newer version", async () => {
		const { run, calls, reservations } = grantPod({ answers: Array.from({ length: 8 }, () => conflict) });
		expect(await run()).toEqual({
			kind: "conflict",
			message: "pod shop/db-0 changed 8 times while it was being evicted",
		});
		expect(calls.filter((call) => call.startsWith("evict"))).toHaveLength(8);
		expect(calls.at(-1)).toBe("eu cancel sent");
		expect(reservations()).toBe(0);
	});
});

describe("evictUnderTicket() of a pod that somebody keeps changing", () => {
	const present = (resourceVersion: string): Found => foundPod({ resourceVersion });

	test("evicts right after a change, with the version of that change, once it has confirmed", async () => {
		const { run, calls, runtime } = grantPod({
			changesEveryMs: 200,
			found: (read) => present(read < 4 ? "105" : "106"),
		});
		const running = run();
		await runtime.advance(200);
		expect(await running).toEqual({ kind: "accepted" });
		expect(calls).toEqual([...Array<string>(4).fill("read"), "eu confirm", "evict db-0 uid-db-0 106 id-db-0"]);
	});

	test("waits for no change that does not come", async () => {
		const { run, calls, runtime } = grantPod({ changesEveryMs: 200, found: present("105") });
		const running = run();
		await runtime.advance(450);
		expect(await running).toEqual({ kind: "accepted" });
		expect(calls.slice(-2)).toEqual(["eu confirm", "evict db-0 uid-db-0 105 id-db-0"]);
	});

	test("waits for the next change where confirming took too long", async () => {
		const { run, calls, cluster, runtime } = grantPod({
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
		const { run, calls, runtime } = grantPod({
			changesEveryMs: 200,
			found: (read) => (read === 1 ? present("105") : foundPod({ isTerminating: true })),
		});
		const running = run();
		await runtime.advance(100);
		expect(await running).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "read"]);
	});
});

describe("evictUnderTicket() without a clear answer", () => {
	test("looks what became of it, and evicts again where it did not happen", async () => {
		const { run, calls } = grantPod({ answers: [unknown] });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["evict db-0 uid-db-0 100 id-db-0", "read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	test("is done where it did happen", async () => {
		const { run, calls } = grantPod({ answers: [unknown], found: foundPod({ isTerminating: true }) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["evict db-0 uid-db-0 100 id-db-0", "read"]);
	});

	test("leaves the reservation standing where it stays unclear: the request may still be on its way", async () => {
		const { run, calls, reservations } = grantPod({ answers: Array.from({ length: 8 }, () => unknown) });
		expect(await run()).toMatchObject({ kind: "unknown", error: { message: "timeout" } });
		expect(calls).not.toContain("eu cancel sent");
		expect(reservations()).toBe(1);
	});

	test("takes the long way back where it is refused after an unclear answer", async () => {
		const { run, calls } = grantPod({ answers: [unknown, refused] });
		expect(await run()).toEqual(refused);
		expect(calls.at(-1)).toBe("eu cancel sent");
	});
});
