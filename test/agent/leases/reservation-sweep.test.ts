import { describe, expect, test } from "vitest";
import { ReservationSweep } from "../../../agent/leases/reservation-sweep.ts";
import { leaseViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import { leaseName, marked } from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { budget, memberBudget, newSpec } from "../../support/build-count.ts";
import { newReservation } from "../../support/build-lease.ts";
import { asks, atOnce, losing, simulateCluster, unavailable } from "../../support/simulated-agent.ts";

const web: BudgetName = { namespace: "shop", name: "web" };

/** Grants pod db-0 under budget shop/db, and sweeps once, so that the sweep has seen the reservation. */
async function setUp() {
	const world = simulateCluster();
	world.server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 }), web));
	const pod = world.newPod("db-0");
	const agent = world.newAgent();
	const grant = async (id: string, name: BudgetName = budget) => {
		const outcome = await agent.local.acquire(asks(id, { budget: name }), atOnce());
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		await agent.local.commit(outcome.acquisition, [{ id, pod, resourceVersion: pod.resourceVersion }]);
	};
	await grant("id-0");
	const reservations = (name: BudgetName = budget) => world.lease(name).state.reservations;
	const sweepAfter = async (ms: number) => {
		world.clock.advance(ms);
		agent.see();
		await agent.sweep.sweep();
	};
	await sweepAfter(0);
	const mark = () =>
		agent.local.leases.change(budget, (lease) => ({ write: marked(lease, new Set(["id-0"])), result: undefined }));
	return { ...world, pod, agent, grant, reservations, sweepAfter, mark };
}

describe("ReservationSweep", () => {
	test("leaves a reservation alone until its time is over", async () => {
		const { sweepAfter, reservations } = await setUp();
		await sweepAfter(29_999);
		expect(reservations()).toMatchObject([{ id: "id-0", cancelling: false }]);
	});

	test("cancels it after 30 seconds, the long way", async () => {
		const { sweepAfter, reservations, server, pod } = await setUp();
		await sweepAfter(30_000);
		expect(reservations()).toEqual([]);
		expect(server.evict(pod, { uid: pod.uid, resourceVersion: pod.resourceVersion })).toEqual({ kind: "conflict" });
	});

	test("counts from its own first sight, whatever the reservation says of itself", async () => {
		const { clock, newAgent, reservations } = await setUp();
		clock.advance(3_600_000);
		const late = newAgent();
		late.see();
		await late.sweep.sweep();
		expect(reservations()).toHaveLength(1);
		clock.advance(29_999);
		await late.sweep.sweep();
		expect(reservations()).toHaveLength(1);
		clock.advance(1);
		await late.sweep.sweep();
		expect(reservations()).toEqual([]);
	});

	test("counts anew for the next grant of the same pod", async () => {
		const { sweepAfter, reservations, agent, grant } = await setUp();
		await sweepAfter(20_000);
		await agent.local.cancel(budget, ["id-0"], { sent: false });
		await grant("id-1");
		await sweepAfter(0);
		await sweepAfter(29_000);
		expect(reservations()).toMatchObject([{ id: "id-1", cancelling: false }]);
	});

	test("ends one on evidence after ten seconds: the next acquire does it in a write that it makes anyway", async () => {
		const { sweepAfter, reservations, server, pod, lease, agent } = await setUp();
		server.changePod(pod, { terminating: true });
		await sweepAfter(9_999);
		expect(reservations()).toHaveLength(1);
		agent.requests.length = 0;
		await sweepAfter(1);
		expect(reservations()).toEqual([]);
		expect(lease().state.observed).toBe(server.podEvents.at(-1)?.resourceVersion);
		expect(agent.requests.some((request) => request.startsWith("patch"))).toBe(false);
	});

	test("goes on with a cancel that somebody left half done, after five seconds", async () => {
		const { sweepAfter, reservations, mark } = await setUp();
		await mark();
		await sweepAfter(0);
		await sweepAfter(4_999);
		expect(reservations()).toMatchObject([{ cancelling: true }]);
		await sweepAfter(1);
		expect(reservations()).toEqual([]);
	});

	test("gives one that is marked late its five seconds, too", async () => {
		const { sweepAfter, reservations, mark } = await setUp();
		await sweepAfter(29_000);
		await mark();
		await sweepAfter(2_000);
		expect(reservations()).toMatchObject([{ cancelling: true }]);
	});

	test("gives a Lease back whose holder has shown no life for twice the lease time", async () => {
		const { sweepAfter, agent, lease } = await setUp();
		await agent.local.acquire(asks("dead"), atOnce());
		await sweepAfter(0);
		await sweepAfter(19_999);
		expect(lease().holder).not.toBe("");
		await sweepAfter(1);
		expect(lease()).toMatchObject({ holder: "", state: { phase: "released" } });
	});

	test("leaves a Lease alone that is renewed, and tells the one who lost it", async () => {
		const { sweepAfter, agent, lease } = await setUp();
		const outcome = await agent.local.acquire(asks("slow"), atOnce());
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		await sweepAfter(0);
		await sweepAfter(15_000);
		await agent.local.renew(outcome.acquisition);
		await sweepAfter(15_000);
		expect(lease().holder).not.toBe("");
		await sweepAfter(20_000);
		expect(lease().holder).toBe("");
		expect(await agent.local.commit(outcome.acquisition, [])).toMatchObject({ kind: "lost" });
	});

	test("waits longer where it is not this agent's turn", async () => {
		const { server, agent, clock, reservations } = await setUp();
		const leases = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
		leases.replace([...server.leases.values()], String(server.revision));
		const second = new ReservationSweep({
			cluster: agent.local,
			pods: agent.pods,
			leases: () => leaseViewOf(leases).leases(),
			clock,
			extraDelayMs: () => 5_000,
			report: () => undefined,
		});
		await second.sweep();
		clock.advance(34_999);
		await second.sweep();
		expect(reservations()).toHaveLength(1);
		clock.advance(1);
		await second.sweep();
		expect(reservations()).toEqual([]);
	});

	test("tries again where a cancel failed, and reports it", async () => {
		const { sweepAfter, reservations, agent } = await setUp();
		agent.before = losing("patch pods");
		await sweepAfter(30_000);
		expect(agent.problems).toEqual([unavailable]);
		expect(reservations()).toMatchObject([{ cancelling: true }]);
		agent.before = () => undefined;
		await sweepAfter(0);
		await sweepAfter(5_000);
		expect(reservations()).toEqual([]);
	});

	describe("with a reservation that nothing ends", () => {
		const far = "9".repeat(39);
		/** Creates reservations of pods that never existed, with a version that no view reaches. */
		const withGhosts = async (count: number) => {
			const world = await setUp();
			await world.agent.local.cancel(budget, ["id-0"], { sent: false });
			const ghosts = Array.from({ length: count }, (_, index) =>
				newReservation(`ghost-${index}`, { resourceVersion: far, cancelling: true }),
			);
			await world.agent.local.leases.change(budget, (lease) => ({
				write: { ...lease, state: { ...lease.state, reservations: ghosts } },
				result: undefined,
			}));
			/** Sweeps once a second for this time, and returns the number of pod reads. */
			const readsWithin = async (seconds: number) => {
				world.agent.requests.length = 0;
				for (let second = 0; second < seconds; second += 1) await world.sweepAfter(1_000);
				return world.agent.requests.filter((request) => request.startsWith("get pods")).length;
			};
			return { ...world, readsWithin };
		};

		test("tries ever more rarely, and never gives up", async () => {
			const { readsWithin } = await withGhosts(1);
			expect(await readsWithin(10)).toBe(2);
			expect(await readsWithin(310)).toBe(2 * 5);
			expect(await readsWithin(3_000)).toBeLessThanOrEqual(2 * 11);
			expect(await readsWithin(3_000)).toBeGreaterThanOrEqual(2 * 9);
		});

		test("takes few requests a second for very many of them", async () => {
			const { readsWithin } = await withGhosts(1_500);
			await readsWithin(60);
			expect(await readsWithin(1)).toBeLessThanOrEqual(2 * 20);
			expect(await readsWithin(600)).toBeLessThanOrEqual(600 * 2 * 20);
		});

		test("says which Lease somebody has to see to, and why", async () => {
			const { readsWithin, agent, lease } = await withGhosts(2);
			await readsWithin(60);
			expect(agent.problems.at(-1)).toMatchObject({
				name: "GarbledLeaseError",
				message: expect.stringMatching(
					new RegExp(
						`cannot end 2 reservations in Lease "${lease().name}" of budget "shop/db" in cluster "eu-1".*${far}`,
					),
				),
			});
			expect(lease().state.reservations).toHaveLength(2);
		});

		test("ends one of a pod that never was, where the view is past its version", async () => {
			const { readsWithin, agent, reservations } = await withGhosts(1);
			await agent.local.leases.change(budget, (lease) => ({
				write: {
					...lease,
					state: { ...lease.state, reservations: [newReservation("ghost", { resourceVersion: "1" })] },
				},
				result: undefined,
			}));
			await readsWithin(12);
			expect(reservations()).toEqual([]);
		});
	});

	test("reports a Lease that cannot be read, with the cluster, and sweeps the others", async () => {
		const { sweepAfter, grant, reservations, server, agent } = await setUp();
		await grant("id-web", web);
		await sweepAfter(0);
		const garbled = server.leases.get(leaseName(budget));
		if (!garbled) throw new Error("the budget has a Lease");
		server.updateLease({ ...garbled, annotations: { ...garbled.annotations, [stateAnnotation]: "{}" } });
		await sweepAfter(30_000);
		expect(agent.problems).toMatchObject([
			{ name: "GarbledLeaseError", message: expect.stringContaining('cluster "eu-1"') },
		]);
		expect(reservations(web)).toEqual([]);
	});

	test("does not write where there is nothing to do", async () => {
		const { sweepAfter, agent } = await setUp();
		agent.requests.length = 0;
		await sweepAfter(10_000);
		expect(agent.requests).toEqual([]);
	});
});
