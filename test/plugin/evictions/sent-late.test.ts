// Tests delays between the decision about a pod and its request: a stopped terminal, a login, a connection.
import { describe, expect, test } from "vitest";
import { AgentUnavailableError, FleetsDifferError } from "../../../disruption/errors.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { createEvictor } from "../../../plugin/evictions/send-eviction.ts";
import { Reachability } from "../../../plugin/fleet/reachability.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const forever = new AbortController().signal;
const options = { gracePeriodSeconds: -1, deletes: false, dryRun: false };

/** Creates a run with two pods that no budget covers. The test may set its clock ahead. */
function newWorld(more: { readonly deletes?: boolean } = {}) {
	const fleet = new FakeFleet(["eu", "us"]);
	const eu = fleet.member("eu");
	const pod = eu.addPod("db-0");
	eu.addPod("db-1");
	const clock = { ahead: 0 };
	const events: RunEvent[] = [];
	const onEvent = { call: (_event: RunEvent): void => undefined };
	const emit = (event: RunEvent): void => {
		events.push(event);
		onEvent.call(event);
	};
	const own = newRun(fleet);
	const runtime = { ...own.runtime, now: () => own.runtime.now() + clock.ahead };
	const asked = { ...options, ...more };
	const reachability = new Reachability(emit, () => runtime.now());
	const run = newRun(fleet, { runtime, emit, reachability, options: asked, evictor: createEvictor(asked, emit) });
	return { fleet, eu, pod, clock, events, onEvent, run: { ...run, runtime, events } };
}

describe("a budget that is made while a pod that none covers waits to be sent", () => {
	test("holds it where the terminal did not take the output", async () => {
		const { fleet, eu, pod, clock, onEvent, run } = newWorld();
		let stopped = false;
		onEvent.call = ({ type }) => {
			if (type === "pod.waiting") run.stop.abort();
			if (type !== "pod.evicting" || stopped) return;
			stopped = true;
			clock.ahead += 25_000;
			fleet.addBudget("db", { maxUnavailable: 0 });
		};
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});

	test.each([{ deletes: false }, { deletes: true }])(
		"holds it where the login took long, deletes: $deletes",
		async (how) => {
			const { fleet, eu, pod, run } = newWorld(how);
			let logins = 0;
			fleet.beforeSending = async () => {
				logins += 1;
				if (logins > 1) return;
				fleet.addBudget("db", { maxUnavailable: 1 });
				await run.runtime.sleep(1_001, forever);
			};
			expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
			expect(fleet.evictions).toMatchObject([{ reserved: true }]);
		},
	);

	test("holds it where another one was in the namespace, and the pod is named by its version", async () => {
		const { fleet, eu, pod, run } = newWorld();
		fleet.budgets.push({
			name: { namespace: "shop", name: "web" },
			spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 },
		});
		let logins = 0;
		fleet.beforeSending = async () => {
			logins += 1;
			if (logins > 1) return;
			fleet.addBudget("db", { maxUnavailable: 1 });
			await run.runtime.sleep(1_001, forever);
		};
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
		expect(fleet.evictions).toMatchObject([{ reserved: true }]);
	});
});

test("a pod that none covers goes where nothing was made meanwhile, and a login of half a second is no reason to ask again", async () => {
	const { fleet, eu, pod, events, run } = newWorld();
	fleet.beforeSending = () => run.runtime.sleep(500, forever);
	expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
	expect(fleet.lists).toBe(1);
	expect(events.filter(({ type }) => type === "pod.evicting")).toHaveLength(1);
});

test.each([
	{
		what: "whose request came too late",
		turn: async ({ run }: ReturnType<typeof newWorld>) => run.runtime.sleep(1_001, forever),
	},
	{ what: "that changed meanwhile", turn: async ({ eu, pod }: ReturnType<typeof newWorld>) => eu.change(pod) },
])("a pod that none covers, $what, is told as being evicted once", async ({ turn }) => {
	const world = newWorld();
	const { fleet, eu, pod, events, run } = world;
	// This budget makes the request name the pod's version.
	fleet.budgets.push({
		name: { namespace: "shop", name: "web" },
		spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 },
	});
	let logins = 0;
	fleet.beforeSending = async () => {
		logins += 1;
		if (logins === 1) await turn(world);
	};
	expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
	expect(logins).toBe(2);
	expect(events.filter(({ type }) => type === "pod.evicting")).toHaveLength(1);
});

test("a pod that none covers is not sent by lists of members that are none any more", async () => {
	const { fleet, eu, pod, run } = newWorld();
	let logins = 0;
	fleet.beforeSending = async () => {
		logins += 1;
		if (logins > 1) return;
		const ap = fleet.declare("ap");
		ap.ownBudgets.push({
			name: { namespace: "shop", name: "db" },
			spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 },
		});
		// Another pod of the run has noticed that the members changed.
		await fleet.reconnect();
	};
	expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
	expect(fleet.evictions).toMatchObject([{ reserved: true }]);
});

describe("a pod that none covers and that waits for the login", () => {
	test("is not sent in a pause, and goes when the run is resumed", async () => {
		const { fleet, eu, pod, events, run } = newWorld();
		fleet.beforeSending = async () => {
			fleet.beforeSending = async () => undefined;
			run.evictions.pause();
			await run.runtime.sleep(100, forever);
		};
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect.poll(() => events.some(({ type }) => type === "paused")).toBe(true);
		for (let turns = 0; turns < 10; turns += 1) await run.runtime.sleep(100, forever);
		expect(fleet.evictions).toEqual([]);
		run.evictions.resume();
		expect(await outcome).toEqual({ kind: "evicted" });
		expect(fleet.evictions).toHaveLength(1);
	});

	test("is not sent after a stop", async () => {
		const { fleet, eu, pod, run } = newWorld();
		fleet.beforeSending = async () => run.stop.abort();
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});
});

describe("a grant that has grown old before it is sent", () => {
	/** Grants a pod that then waits 18 s to be sent, while `meanwhile` happens. The run stops if the pod must wait for a budget again. */
	async function evictGranted(meanwhile: (fleet: FakeFleet) => void) {
		const { fleet, eu, pod, events, onEvent, run } = newWorld();
		fleet.addBudget("db", { maxUnavailable: 1 });
		let logins = 0;
		fleet.beforeSending = async () => {
			logins += 1;
			if (logins > 1) return;
			meanwhile(fleet);
			await run.runtime.sleep(18_000, forever);
		};
		onEvent.call = (event) => {
			if (event.type === "pod.waiting" && event.reason === "BudgetExhausted") run.stop.abort();
		};
		return { outcome: await run.evictions.evict(run.job(eu, pod)), fleet, eu, events };
	}

	test("is used where its budgets are as they were counted", async () => {
		const { outcome, fleet, eu } = await evictGranted(() => undefined);
		expect(outcome).toEqual({ kind: "evicted" });
		expect(fleet.evictions).toMatchObject([{ reserved: true }]);
		expect(eu.rounds).toBe(1);
	});

	test("is given back under a budget that was made since, by which the pod is judged anew", async () => {
		const { outcome, fleet, eu } = await evictGranted((all) => all.addBudget("later", { maxUnavailable: 0 }));
		expect(outcome).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
		expect([...eu.reservations]).toEqual([]);
	});

	test("is made again under both budgets where the new one allows it too", async () => {
		const { outcome, fleet, eu, events } = await evictGranted((all) => all.addBudget("later", { maxUnavailable: 1 }));
		expect(outcome).toEqual({ kind: "evicted" });
		expect(fleet.evictions).toMatchObject([{ reserved: true }]);
		expect(eu.rounds).toBeGreaterThan(1);
		expect(events.findLast(({ type }) => type === "pod.evicting")).toMatchObject({
			budgets: ["shop/db", "shop/later"],
		});
	});

	test("is given back where its own budget allows less by now", async () => {
		const { outcome, fleet } = await evictGranted((all) => {
			all.budgets.splice(0);
			all.addBudget("db", { maxUnavailable: 0 });
		});
		expect(outcome).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});

	test("is given back where one member alone has another one by now", async () => {
		const { outcome, fleet } = await evictGranted((all) =>
			all.member("us").ownBudgets.push({
				name: { namespace: "shop", name: "strict" },
				spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 0 },
			}),
		);
		expect(outcome).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});

	test("is given back where a new budget cannot be read", async () => {
		const { outcome, fleet, eu } = await evictGranted((all) =>
			all.budgets.push({ name: { namespace: "shop", name: "odd" }, spec: { selector: 5 } }),
		);
		expect(outcome).toMatchObject({ kind: "failed", reason: "InvalidBudget" });
		expect(fleet.evictions).toEqual([]);
		expect([...eu.reservations]).toEqual([]);
	});

	test("is given back where the members are others by now, and is made again over these", async () => {
		const { outcome, fleet, eu } = await evictGranted((all) => void all.declare("ap"));
		expect(outcome).toEqual({ kind: "evicted" });
		expect(fleet.members.map(({ name }) => name)).toEqual(["eu", "us", "ap"]);
		expect(eu.rounds).toBeGreaterThan(1);
	});

	test("waits for a member that does not say which budgets it has", async () => {
		let asked = 0;
		const { outcome, fleet, eu, events } = await evictGranted((all) => {
			const us = all.member("us");
			us.listBudgets = async () => {
				asked += 1;
				if (asked <= 2) throw new AgentUnavailableError("cannot call ListBudgets", "us");
				return { clusterId: us.id, fleetHash: us.hash, budgets: us.budgets };
			};
		});
		expect(outcome).toEqual({ kind: "evicted" });
		expect(asked).toBe(3);
		expect(fleet.evictions).toMatchObject([{ reserved: true }]);
		expect(eu.rounds).toBe(1);
		expect(events).toContainEqual(expect.objectContaining({ type: "cluster.unreachable", cluster: "us" }));
	});

	test("is given back where a member knows of one that is neither listed nor forgotten, and who the members are is asked", async () => {
		let asked = 0;
		const { outcome, fleet } = await evictGranted((all) => {
			const us = all.member("us");
			us.listBudgets = async () => {
				asked += 1;
				if (asked === 1) throw new FleetsDifferError("cannot judge budgets: it knows ap");
				return { clusterId: us.id, fleetHash: us.hash, budgets: us.budgets };
			};
		});
		expect(outcome).toEqual({ kind: "evicted" });
		expect(fleet.reconnects).toBe(1);
	});
});
