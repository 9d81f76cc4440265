// Tests that a commit writes only what this agent has verified itself, even for a caller with every right.
import { describe, expect, test } from "vitest";
import type { LocalClusterOptions } from "../../../agent/leases/local-cluster.ts";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import type { Grant } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { budget, memberBudget, newSpec, podReference, selector } from "../../support/build-count.ts";
import { newController } from "../../support/build-lease.ts";
import {
	asks,
	atOnce,
	losing,
	type SimulatedAgent,
	settle,
	simulateCluster,
	unavailable,
} from "../../support/simulated-agent.ts";

const db = newController("db");
const tenant: BudgetName = { namespace: "shop", name: "tenant" };
const far = "9".repeat(39);

/** Creates db-0 and db-1 of StatefulSet db under budget shop/db, and web-0, which no budget selects. */
function setUp(options: Partial<LocalClusterOptions> = {}) {
	const world = simulateCluster();
	world.server.putController({ ...db, namespace: "shop", replicas: 2 });
	const db0 = world.newPod("db-0", { controller: db });
	const db1 = world.newPod("db-1", { controller: db });
	const web0 = world.newPod("web-0", { labels: { app: "web" } });
	const agent = world.newAgent(options);
	// The first agent keeps the waiting line.
	const other = world.newAgent({ ...options, lineHost: () => agent.local });
	const acquire = async (name: BudgetName = budget, by: SimulatedAgent = agent) => {
		const outcome = await by.local.acquire(asks("n", { budget: name, selector }), atOnce());
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		agent.requests.length = 0;
		return outcome.acquisition;
	};
	const names = (name: BudgetName = budget) => world.lease(name).state.reservations.map((each) => each.name);
	return { ...world, db0, db1, web0, agent, other, acquire, names };
}

function grantOf(pod: PodRecord, more: Partial<Grant> = {}): Grant {
	return { id: `id-${pod.name}`, pod, resourceVersion: pod.resourceVersion, ...more };
}

const ghost: Grant = { id: "id-ghost", pod: podReference("ghost"), resourceVersion: "1" };

describe("a commit of pods that are not there", () => {
	test("reserves the others, and names those", async () => {
		const { agent, acquire, db0, names } = setUp();
		const outcome = await agent.local.commit(await acquire(), [ghost, grantOf(db0)]);
		expect(outcome).toEqual({ kind: "stood", leftOut: [{ uid: "uid-ghost", why: "Gone" }] });
		expect(names()).toEqual(["db-0"]);
	});

	test("says the same where it is repeated", async () => {
		const { agent, acquire, db0, names } = setUp();
		const acquisition = await acquire();
		const commit = () => agent.local.commit(acquisition, [ghost, grantOf(db0)]);
		expect(await commit()).toEqual(await commit());
		expect(names()).toEqual(["db-0"]);
	});

	test("names one that was reserved and has ended since, where it is repeated", async () => {
		const { agent, acquire, db0 } = setUp();
		const acquisition = await acquire();
		const commit = () => agent.local.commit(acquisition, [grantOf(db0)]);
		expect(await commit()).toEqual({ kind: "stood" });
		await agent.local.cancel(budget, ["id-db-0"], { sent: false });
		expect(await commit()).toEqual({ kind: "stood", leftOut: [{ uid: db0.uid, why: "Gone" }] });
	});

	test("gives the Lease back where none is left", async () => {
		const { agent, acquire, lease } = setUp();
		await agent.local.commit(await acquire(), [ghost]);
		expect(lease()).toMatchObject({ holder: "", state: { phase: "committed", reservations: [], controllers: [] } });
	});

	test("of another uid under a name that is there reserves nothing", async () => {
		const { agent, acquire, db0, names } = setUp();
		const grant = grantOf(db0, { pod: { ...db0, uid: "of its predecessor" } });
		expect(await agent.local.commit(await acquire(), [grant])).toMatchObject({ leftOut: [{ why: "Gone" }] });
		expect(names()).toEqual([]);
	});

	test("writes the name that the pod has, whatever it is called", async () => {
		const { agent, acquire, db0, names } = setUp();
		await agent.local.commit(await acquire(), [grantOf(db0, { pod: { ...db0, name: "nobody" } })]);
		expect(names()).toEqual(["db-0"]);
	});
});

describe("a commit of versions", () => {
	test("that the view has not seen waits for them, for its watch and not for a list", async () => {
		const { agent, acquire, newPod, names } = setUp();
		const acquisition = await acquire();
		const late = newPod("db-2", { controller: db });
		const committing = agent.local.commit(acquisition, [grantOf(late)]);
		await settle();
		expect(names()).toEqual([]);
		agent.see();
		expect(await committing).toEqual({ kind: "stood" });
		expect(names()).toEqual(["db-2"]);
		expect(agent.requests).not.toContain("list pods");
	});

	for (const [name, version] of [
		["that the view does not come to within a second", "5000"],
		["of 39 digits", far],
	] as const) {
		test(`${name} fails, and nothing is written`, async () => {
			const { agent, acquire, db0, db1, lease, clock } = setUp();
			const acquisition = await acquire();
			const before = lease();
			const committing = agent.local.commit(acquisition, [grantOf(db1), grantOf(db0, { resourceVersion: version })]);
			const caught = committing.catch((error: unknown) => error);
			await settle();
			clock.advance(1_000);
			expect(await caught).toBeInstanceOf(AgentUnavailableError);
			expect(String(await caught)).toContain(`the grant names version ${version}`);
			expect(lease()).toEqual(before);
			expect(agent.requests).toEqual([]);
		});
	}

	test("older than the pod's is no error", async () => {
		const { agent, acquire, db0, server, lease } = setUp();
		const acquisition = await acquire();
		server.changePod(db0, {});
		agent.see();
		expect(await agent.local.commit(acquisition, [grantOf(db0)])).toEqual({ kind: "stood" });
		expect(lease().state.reservations).toMatchObject([{ resourceVersion: db0.resourceVersion }]);
	});
});

describe("a commit while the watch is dead", () => {
	/** Acquires, and then the watch on pods dies. */
	async function silenced() {
		const world = setUp();
		const acquisition = await world.acquire();
		world.agent.pods.watchLost();
		return { ...world, acquisition };
	}

	test("reads each pod by name and lists none", async () => {
		const { agent, acquisition, db0, db1, names } = await silenced();
		expect(await agent.local.commit(acquisition, [grantOf(db0), grantOf(db1)])).toEqual({ kind: "stood" });
		expect(names()).toEqual(["db-0", "db-1"]);
		expect(agent.requests).toEqual(expect.arrayContaining(["get pods shop/db-0", "get pods shop/db-1"]));
		expect(agent.requests.filter((request) => request.startsWith("list pods"))).toEqual([]);
	});

	test("leaves out a pod that is gone, was replaced, or has other labels now", async () => {
		const { agent, acquisition, db0, db1, web0, server, newPod, names } = await silenced();
		server.removePod(db0);
		newPod("db-0");
		server.changePod(db1, { labels: { app: "web" } });
		const outcome = await agent.local.commit(acquisition, [grantOf(db0), grantOf(db1), grantOf(web0), ghost]);
		expect(outcome).toEqual({
			kind: "stood",
			leftOut: [
				{ uid: db0.uid, why: "Gone" },
				{ uid: db1.uid, why: "NotCovered" },
				{ uid: web0.uid, why: "NotCovered" },
				{ uid: "uid-ghost", why: "Gone" },
			],
		});
		expect(names()).toEqual([]);
	});

	test("writes nothing for a version that the pod never had", async () => {
		const { agent, acquisition, db0, lease } = await silenced();
		const before = lease();
		await expect(agent.local.commit(acquisition, [grantOf(db0, { resourceVersion: far })])).rejects.toThrow(
			`pod "shop/db-0" is at version ${db0.resourceVersion}, but the grant names version ${far}`,
		);
		expect(lease()).toEqual(before);
	});

	test("writes nothing if a pod cannot be read", async () => {
		const { agent, acquisition, db0, lease } = await silenced();
		const before = lease();
		agent.before = losing("get pods");
		await expect(agent.local.commit(acquisition, [grantOf(db0)])).rejects.toBe(unavailable);
		expect(lease()).toEqual(before);
	});
});

describe("a commit of other people's pods", () => {
	test("that the budget does not select reserves nothing, and names them", async () => {
		const { agent, acquire, db0, web0, names } = setUp();
		const outcome = await agent.local.commit(await acquire(), [grantOf(web0), grantOf(db0)]);
		expect(outcome).toEqual({ kind: "stood", leftOut: [{ uid: web0.uid, why: "NotCovered" }] });
		expect(names()).toEqual(["db-0"]);
	});

	test("judges the labels that they have now", async () => {
		const { agent, acquire, db0, server } = setUp();
		const acquisition = await acquire();
		server.changePod(db0, { labels: { app: "web" } });
		agent.see();
		const outcome = await agent.local.commit(acquisition, [grantOf(db0)]);
		expect(outcome).toEqual({ kind: "stood", leftOut: [{ uid: db0.uid, why: "NotCovered" }] });
	});

	test("judges by the budget as it is here, whatever selector the caller counted with", async () => {
		const { agent, acquire, db0, server, names } = setUp();
		server.putBudget(memberBudget({ selector: { matchLabels: { app: "tenant" } }, maxUnavailable: 1 }, tenant));
		expect(await agent.local.commit(await acquire(tenant), [grantOf(db0)])).toMatchObject({
			leftOut: [{ why: "NotCovered" }],
		});
		expect(names(tenant)).toEqual([]);
	});

	test("reserves nothing under a budget that cannot be read", async () => {
		const { agent, acquire, db0, server, names } = setUp();
		server.putBudget(memberBudget({ maxUnavailable: 1 }, tenant));
		await agent.local.commit(await acquire(tenant), [grantOf(db0)]);
		expect(names(tenant)).toEqual([]);
	});
});

describe("a commit under a budget that this cluster does not have", () => {
	test("reserves nothing where no member has it", async () => {
		const { agent, acquire, db0, names } = setUp({ budgetElsewhere: async () => [] });
		expect(await agent.local.commit(await acquire(tenant), [grantOf(db0)])).toMatchObject({
			leftOut: [{ uid: db0.uid, why: "NotCovered" }],
		});
		expect(names(tenant)).toEqual([]);
	});

	test("reserves what the budget of another member selects, and nothing else", async () => {
		const spec = newSpec({ maxUnavailable: 1 });
		const { agent, acquire, db0, web0, names } = setUp({ budgetElsewhere: async (name) => [memberBudget(spec, name)] });
		await agent.local.commit(await acquire(tenant), [grantOf(db0), grantOf(web0)]);
		expect(names(tenant)).toEqual(["db-0"]);
	});

	test("fails where a member cannot be asked, and nothing is written", async () => {
		const { agent, acquire, db0, lease } = setUp({
			budgetElsewhere: async () => {
				throw unavailable;
			},
		});
		await expect(agent.local.commit(await acquire(tenant), [grantOf(db0)])).rejects.toBe(unavailable);
		expect(lease(tenant)).toMatchObject({ holder: "drain of n", state: { reservations: [] } });
	});
});

describe("a commit remembers", () => {
	test("the controller that the pod has, and none that the caller names", async () => {
		const { agent, acquire, db0, lease } = setUp();
		await agent.local.commit(await acquire(), [grantOf(db0, { controller: newController("huge") })]);
		expect(lease().state.controllers).toEqual([db]);
	});

	test("the Deployment of a ReplicaSet", async () => {
		const { agent, acquire, newPod, server, lease } = setUp();
		const [web, replicaSet] = [
			newController("web", { kind: "Deployment" }),
			newController("web-1", { kind: "ReplicaSet" }),
		];
		server.putController({ ...web, namespace: "shop", replicas: 1 });
		server.putController({ ...replicaSet, namespace: "shop", replicas: 1, ownedBy: web });
		const pod = newPod("web-1-x", { controller: replicaSet });
		agent.see();
		await agent.local.commit(await acquire(), [grantOf(pod)]);
		expect(lease().state.controllers).toEqual([web]);
	});

	for (const [name, controller] of [
		["a Job", newController("import", { apiVersion: "batch/v1", kind: "Job" })],
		["a controller that is gone", newController("old")],
		["a kind without scale", newController("rock", { apiVersion: "example.com/v1", kind: "Rock" })],
		["no controller", undefined],
	] as const) {
		test(`nothing of a pod of ${name}`, async () => {
			const { agent, acquire, newPod, server, lease, names } = setUp();
			if (controller?.kind === "Rock")
				server.putController({ ...controller, namespace: "shop", replicas: "withoutScale" });
			const pod = newPod("pod-0", controller && { controller });
			agent.see();
			await agent.local.commit(await acquire(), [grantOf(pod)]);
			expect(names()).toEqual(["pod-0"]);
			expect(lease().state.controllers).toEqual([]);
		});
	}

	test("what the count found, without asking again", async () => {
		const { agent, acquire, db0 } = setUp();
		const acquisition = await acquire();
		await agent.local.commit(acquisition, [grantOf(db0)]);
		expect(agent.requests.map((request) => request.split(" xpdb")[0])).toEqual(["update leases"]);
	});

	test("what it asks for itself, where another agent has counted", async () => {
		const { acquire, other, db0, lease } = setUp();
		const acquisition = await acquire(budget, other);
		await other.local.commit(acquisition, [grantOf(db0)]);
		expect(other.requests).toEqual(expect.arrayContaining(["get budgets shop/db", "get scales shop/db"]));
		expect(lease().state).toMatchObject({ controllers: [db], reservations: [{ name: "db-0" }] });
	});

	for (const what of ["get budgets", "get scales"]) {
		test(`nothing, and writes nothing, where it needs "${what}" and gets no answer`, async () => {
			const { acquire, other, db0, lease } = setUp();
			const acquisition = await acquire(budget, other);
			other.before = losing(what);
			await expect(other.local.commit(acquisition, [grantOf(db0)])).rejects.toBe(unavailable);
			expect(lease()).toMatchObject({ holder: "drain of n", state: { reservations: [] } });
		});
	}
});
