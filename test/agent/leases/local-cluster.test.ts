import { describe, expect, test } from "vitest";
import type { AcquireOutcome, Acquisition } from "../../../disruption/budget/cluster.ts";
import { AgentProtocolError, AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { leaseName, marked, maxAnnotationBytes } from "../../../disruption/lease/lease.ts";
import { budget, selector } from "../../support/build-count.ts";
import { newController, newGrant } from "../../support/build-lease.ts";
import {
	asks,
	atOnce,
	losing,
	type SimulatedAgent,
	simulateCluster,
	unavailable,
} from "../../support/simulated-agent.ts";

function setUp() {
	const world = simulateCluster();
	const pod = world.newPod("db-0");
	const agent = world.newAgent();
	const other = world.newAgent();
	const acquire = async (nonce: string, by: SimulatedAgent = agent) =>
		acquired(await by.local.acquire(asks(nonce), atOnce()));
	const grant = { id: "id-0", pod, resourceVersion: pod.resourceVersion };
	/** Lets another caller take over the Lease after it has expired. */
	const takeOver = async () => {
		await other.local.leases.read(budget);
		world.clock.advance(10_001);
		for (const each of [agent, other]) each.see();
		return acquire("thief", other);
	};
	return { ...world, pod, agent, other, acquire, grant, takeOver };
}

function acquired(outcome: AcquireOutcome): Extract<AcquireOutcome, { kind: "acquired" }> {
	if (outcome.kind !== "acquired") throw new Error(`held by ${outcome.holder}`);
	return outcome;
}

describe("LocalCluster.acquire()", () => {
	test("takes a free Lease and counts", async () => {
		const { acquire, lease } = setUp();
		expect(await acquire("n")).toMatchObject({
			acquisition: { budget, leaseUid: lease().uid, leaseTransitions: 1, nonce: "n" },
			leaseDurationMs: 10_000,
			count: { clusterId: "eu", healthy: 1 },
		});
		expect(lease()).toMatchObject({ holder: "drain of n", state: { phase: "held" } });
	});

	test("counts after it has written the Lease", async () => {
		const { acquire, agent } = setUp();
		await acquire("n");
		const requests = agent.requests.map((request) => request.replace(/ xpdb-\w+/, ""));
		const written = requests.indexOf("update leases");
		for (const read of ["list leases", "get budgets shop/db", "get fleet"]) {
			expect(requests.indexOf(read)).toBeGreaterThan(written);
		}
	});

	test("says who holds a Lease, and since when", async () => {
		const { acquire, other, clock } = setUp();
		await acquire("n");
		await other.local.acquire(asks("m"), atOnce());
		clock.advance(500);
		expect(await other.local.acquire(asks("m"), atOnce())).toEqual({
			kind: "held",
			position: 1,
			holder: "drain of n",
			heldForMs: 500,
		});
	});

	test("takes over from a holder that shows no life, with what it has reserved", async () => {
		const { acquire, agent, takeOver, grant, lease } = setUp();
		const { acquisition } = await acquire("n");
		await agent.local.commit(acquisition, [grant]);
		await acquire("m");
		expect(await takeOver()).toMatchObject({ acquisition: { leaseTransitions: 3 }, count: { healthy: 0 } });
		expect(lease().state.reservations).toHaveLength(1);
	});

	test("ends what is evident in the same write, and says how far the evidence had come", async () => {
		const { acquire, agent, grant, lease, server, pod } = setUp();
		await agent.local.commit((await acquire("n")).acquisition, [grant]);
		server.changePod(pod, { terminating: true });
		agent.see();
		await acquire("m");
		expect(lease().state).toMatchObject({ reservations: [], observed: server.podEvents.at(-1)?.resourceVersion });
	});

	test("is one acquisition for a doubled call", async () => {
		const { acquire, lease } = setUp();
		const [first, second] = await Promise.all([acquire("n"), acquire("n")]);
		expect(second.acquisition).toEqual(first.acquisition);
		expect((await acquire("n")).acquisition).toEqual(first.acquisition);
		expect(lease().transitions).toBe(1);
	});

	test("finds its own Lease where the answer to the write was lost", async () => {
		const { acquire, agent, lease } = setUp();
		agent.after = losing("update leases");
		await expect(acquire("n")).rejects.toBe(unavailable);
		expect(lease().holder).toBe("drain of n");
		agent.after = () => undefined;
		expect((await acquire("n")).acquisition.leaseTransitions).toBe(1);
	});

	test("does not revive with a late double what was given back", async () => {
		const { acquire, agent, grant } = setUp();
		const { acquisition } = await acquire("n");
		await agent.local.release(acquisition);
		await acquire("n");
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
	});

	test("gives the Lease back where it cannot count", async () => {
		const { acquire, agent, lease } = setUp();
		agent.before = losing("get fleet");
		await expect(acquire("n")).rejects.toBe(unavailable);
		expect(lease().holder).toBe("");
	});

	test("says why it could not count, also where it cannot give the Lease back", async () => {
		const { acquire, agent } = setUp();
		const counting = new AgentUnavailableError("No fleet is declared", "eu-1");
		agent.before = ({ verb, resource }) => {
			if (resource !== "fleet") return;
			agent.before = losing("update leases");
			throw verb === "get" ? counting : unavailable;
		};
		await expect(acquire("n")).rejects.toBe(counting);
		expect(agent.problems).toEqual([unavailable]);
	});

	test("is not answered before the first list of pods", async () => {
		const { agent, acquire } = setUp();
		agent.pods.reset();
		await expect(acquire("n")).rejects.toThrow('the agent of cluster "eu-1" has not finished its first list of pods');
		expect(agent.requests).toEqual([]);
	});

	test("writes observed with the first count, so that the next one needs no list", async () => {
		const { acquire, agent, lease } = setUp();
		const { acquisition } = await acquire("n");
		expect(lease().state.observed).toBe(agent.pods.resourceVersion);
		await agent.local.release(acquisition);
		agent.requests.length = 0;
		await acquire("m");
		expect(agent.requests.filter((request) => request === "list pods")).toEqual([]);
	});

	test("forgets a controller that is gone for good", async () => {
		const { acquire, agent, grant, lease, server, newPod } = setUp();
		const controller = newController("db");
		server.putController({ ...controller, namespace: "shop", replicas: 1 });
		const pod = newPod("db-1", { controller });
		agent.see();
		await agent.local.commit((await acquire("n")).acquisition, [
			{ ...grant, pod, resourceVersion: pod.resourceVersion },
		]);
		expect(lease().state.controllers).toEqual([controller]);
		server.deleteController(controller, "shop");
		await acquire("m");
		expect(lease().state.controllers).toEqual([]);
	});

	test("tells a candidate's pre-activities that somebody waits for them, and goes on where that fails", async () => {
		const { agent, server, newPod } = setUp();
		const waiting = newPod("db-1", { preActivities: ["backup"] });
		agent.see();
		const question = { candidates: [waiting] };
		const { acquisition } = acquired(await agent.local.acquire(asks("n", question), atOnce()));
		expect(server.hasPendingDisruption(waiting)).toBe(true);
		agent.before = losing("patch pods");
		expect((await agent.local.count(acquisition, asks("n", question))).candidates).toHaveLength(1);
		expect(agent.problems).toEqual([unavailable]);
	});
});

describe("LocalCluster.count() and renew()", () => {
	test("go on under an acquisition that stands", async () => {
		const { acquire, agent, server, pod, lease } = setUp();
		const { acquisition } = await acquire("n");
		server.changePod(pod, { ready: false });
		agent.see();
		expect((await agent.local.count(acquisition, asks("n"))).healthy).toBe(0);
		await agent.local.renew(acquisition);
		expect(lease().state).toMatchObject({ phase: "held", renewals: 1 });
	});

	const losses: readonly {
		readonly name: string;
		readonly lose: (world: ReturnType<typeof setUp>, acquisition: Acquisition) => Promise<unknown>;
		readonly state: string;
	}[] = [
		{ name: "was taken over", lose: ({ takeOver }) => takeOver(), state: 'held by "drain of thief"' },
		{
			name: "was given back",
			lose: ({ agent }, acquisition) => agent.local.release(acquisition),
			state: "it was given back",
		},
		{
			name: "is that of a deleted Lease",
			lose: async ({ server }) => server.deleteLease(leaseName(budget), {}),
			state: "it does not exist any more",
		},
	];
	for (const { name, lose, state } of losses) {
		test(`say that the acquisition is lost which ${name}`, async () => {
			const world = setUp();
			const { acquisition } = await world.acquire("n");
			await lose(world, acquisition);
			await expect(world.agent.local.count(acquisition, asks("n"))).rejects.toThrow(
				`Lease of budget "shop/db" in cluster "eu-1" was lost: ${state}`,
			);
			await expect(world.agent.local.renew(acquisition)).rejects.toThrow(LeaseLostError);
		});
	}
});

describe("LocalCluster.commit()", () => {
	test("reserves and gives back in one write", async () => {
		const { acquire, agent, grant, lease, clock } = setUp();
		clock.advance(3_000);
		agent.live();
		const { acquisition } = await acquire("n");
		agent.requests.length = 0;
		expect(await agent.local.commit(acquisition, [grant])).toEqual({ kind: "stood" });
		expect(agent.requests).toHaveLength(1);
		expect(lease()).toMatchObject({
			holder: "",
			state: { phase: "committed", reservations: [{ id: "id-0", holder: "drain of n", sinceSeconds: 3 }] },
		});
	});

	test("remembers for whom, and who evicted the pod when its reservation has ended", async () => {
		const { acquire, agent, grant, server, pod, clock } = setUp();
		const used = async () => (await agent.local.look({ budget, selector, candidates: [] })).unavailable;
		const { acquisition } = await acquire("n");
		await agent.local.commit(acquisition, [grant], { user: "team-a" });
		const by = { name: "db-0", holder: "drain of n", account: "team-a" };
		expect(await used()).toMatchObject([{ ...by, why: "Reserved" }]);
		server.changePod(pod, { terminating: true, status: { state: "Terminating", sinceSeconds: clock.wallSeconds() } });
		agent.see();
		await agent.local.endOnEvidence(budget);
		expect(await used()).toMatchObject([{ ...by, why: "Terminating", state: "Terminating" }]);
	});

	test("writes also where nothing is granted", async () => {
		const { acquire, agent, lease } = setUp();
		expect(await agent.local.commit((await acquire("n")).acquisition, [])).toEqual({ kind: "stood" });
		expect(lease().state.phase).toBe("committed");
	});

	test("reserves once, however often it is asked and whoever of the agents is asked", async () => {
		const { acquire, agent, other, grant, lease } = setUp();
		const { acquisition } = await acquire("n");
		const commit = (by: SimulatedAgent) => by.local.commit(acquisition, [grant]);
		agent.after = losing("update leases");
		await expect(commit(agent)).rejects.toBe(unavailable);
		agent.after = () => undefined;
		expect(await Promise.all([commit(agent), commit(agent), commit(other)])).toEqual(
			Array.from({ length: 3 }, () => ({ kind: "stood" })),
		);
		expect(lease().state.reservations).toHaveLength(1);
	});

	test("is lost where somebody took the Lease over, and says who", async () => {
		const { acquire, agent, grant, takeOver, lease } = setUp();
		const { acquisition } = await acquire("n");
		await takeOver();
		expect(await agent.local.commit(acquisition, [grant])).toEqual({
			kind: "lost",
			reason: 'Lease of budget "shop/db" in cluster "eu-1" was lost: held by "drain of thief"',
		});
		expect(lease()).toMatchObject({ holder: "drain of thief", state: { reservations: [] } });
	});

	test("is lost where it was committed, and acquired by another one since", async () => {
		const { acquire, agent, grant } = setUp();
		const { acquisition } = await acquire("n");
		await agent.local.commit(acquisition, [grant]);
		await acquire("m");
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
	});

	test("is lost where it was released", async () => {
		const { acquire, agent, grant } = setUp();
		const { acquisition } = await acquire("n");
		await agent.local.release(acquisition);
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
	});

	test("is lost where the Lease was deleted and made again", async () => {
		const { acquire, agent, other, grant, server } = setUp();
		const { acquisition } = await acquire("n");
		server.deleteLease(leaseName(budget), {});
		await acquire("n", other);
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
	});

	test("stands after a renewal, and after others have ended reservations", async () => {
		const { acquire, agent, other, grant } = setUp();
		const { acquisition } = await acquire("n");
		await agent.local.renew(acquisition);
		await other.local.leases.change(budget, (lease) => ({ write: marked(lease, new Set()), result: undefined }));
		expect(await agent.local.commit(acquisition, [grant])).toEqual({ kind: "stood" });
	});

	test("is full where the API server would not take the annotations, and keeps the Lease", async () => {
		const { acquire, agent, grant, server, lease } = setUp();
		const { acquisition } = await acquire("n");
		const object = server.leases.get(leaseName(budget));
		if (!object) throw new Error("the budget has a Lease");
		const note = "x".repeat(maxAnnotationBytes - 600);
		server.updateLease({ ...object, annotations: { ...object.annotations, "example.com/note": note } });
		const outcome = await agent.local.commit(acquisition, Array(20).fill(grant));
		expect(outcome).toEqual({ kind: "full", reservations: 0 });
		expect(lease()).toMatchObject({ holder: "drain of n", state: { reservations: [] } });
	});

	test("refuses a grant that nobody could read again, and keeps the Lease", async () => {
		const { acquire, agent, lease } = setUp();
		const { acquisition } = await acquire("n");
		const commit = agent.local.commit(acquisition, [newGrant("db-0", { resourceVersion: "007" })]);
		await expect(commit).rejects.toThrow(AgentProtocolError);
		expect(lease().holder).toBe("drain of n");
	});
});

describe("LocalCluster.release()", () => {
	test("gives the Lease back, once and again", async () => {
		const { acquire, agent, lease } = setUp();
		const { acquisition } = await acquire("n");
		await agent.local.release(acquisition);
		await agent.local.release(acquisition);
		expect(lease()).toMatchObject({ holder: "", state: { phase: "released" } });
	});

	test("leaves a Lease alone that somebody took over", async () => {
		const { acquire, agent, takeOver, lease } = setUp();
		const { acquisition } = await acquire("n");
		await takeOver();
		await agent.local.release(acquisition);
		expect(lease().holder).toBe("drain of thief");
	});

	// x-pdb's LocalUnlock, in contrast, goes on to delete after a failed read.
	test("writes nothing where the Lease cannot be read", async () => {
		const { acquire, other, lease } = setUp();
		const { acquisition } = await acquire("n");
		other.before = losing("get leases");
		await expect(other.local.release(acquisition)).rejects.toBe(unavailable);
		expect(lease().holder).toBe("drain of n");
	});
});

describe("LocalCluster.confirm()", () => {
	test("says yes only where all of them stand unmarked, as read after the call", async () => {
		const { acquire, agent, other, grant, newPod } = setUp();
		const second = newPod("db-1");
		const grants = [grant, { id: "id-1", pod: second, resourceVersion: second.resourceVersion }];
		await agent.local.commit((await acquire("n")).acquisition, grants);
		const confirm = (...ids: string[]) => agent.local.confirm(budget, ids);
		expect(await Promise.all([confirm("id-0"), confirm("id-0", "id-1")])).toEqual([true, true]);
		expect(await Promise.all([confirm(), confirm("id-2"), confirm("id-0", "id-2")])).toEqual([false, false, false]);
		await other.local.leases.change(budget, (lease) => ({
			write: marked(lease, new Set(["id-1"])),
			result: undefined,
		}));
		expect(await Promise.all([confirm("id-0"), confirm("id-1"), confirm("id-0", "id-1")])).toEqual([
			true,
			false,
			false,
		]);
	});

	test("says no where the budget has no Lease, and makes none", async () => {
		const { agent, server } = setUp();
		expect(await agent.local.confirm(budget, ["id-0"])).toBe(false);
		expect(server.leases.size).toBe(0);
	});
});
