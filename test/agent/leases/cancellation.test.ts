import { describe, expect, test } from "vitest";
import type { Grant } from "../../../disruption/budget/cluster.ts";
import { marked } from "../../../disruption/lease/lease.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { budget } from "../../support/build-count.ts";
import {
	asks,
	atOnce,
	losing,
	type SimulatedAgent,
	simulateCluster,
	unavailable,
} from "../../support/simulated-agent.ts";

async function setUp() {
	const world = simulateCluster();
	const pods = ["db-0", "db-1", "db-2"].map((name) => world.newPod(name)) as [PodRecord, PodRecord, PodRecord];
	const agent = world.newAgent();
	const other = world.newAgent();
	await grant(agent, pods);
	agent.requests.length = 0;
	const find = (id: string) => world.lease().state.reservations.find((each) => each.id === id);
	const version = (pod: PodRecord) => {
		const found = world.server.getPod(pod);
		return found.kind === "present" ? found.pod.resourceVersion : "";
	};
	const cancel = (ids: readonly string[], by: SimulatedAgent = agent) => by.local.cancel(budget, ids, { sent: true });
	const mark = (id: string) =>
		agent.local.leases.change(budget, (lease) => ({ write: marked(lease, new Set([id])), result: undefined }));
	/** Evicts the version that was granted, as a late eviction does. */
	const evictLate = (pod: PodRecord) => world.server.evict(pod, { uid: pod.uid, resourceVersion: pod.resourceVersion });
	return { ...world, pods, agent, other, find, version, cancel, mark, evictLate };
}

async function grant(agent: SimulatedAgent, pods: readonly PodRecord[]): Promise<void> {
	const outcome = await agent.local.acquire(asks("n"), atOnce());
	if (outcome.kind !== "acquired") throw new Error("the Lease is free");
	const grants = pods.map((pod): Grant => ({ id: `id-${pod.name}`, pod, resourceVersion: pod.resourceVersion }));
	await agent.local.commit(outcome.acquisition, grants);
}

describe("cancel() of an eviction that may have been sent", () => {
	test("marks, touches, reads and removes, in that order", async () => {
		const { cancel, agent, find } = await setUp();
		await cancel(["id-db-0"]);
		expect(agent.requests.map((request) => request.replace(/xpdb-\w+/, "LEASE"))).toEqual([
			"update leases LEASE",
			"get pods shop/db-0",
			"patch pods shop/db-0",
			"get pods shop/db-0",
			"update leases LEASE",
		]);
		expect(find("id-db-0")).toBeUndefined();
	});

	test("leaves the other reservations as they are", async () => {
		const { cancel, find } = await setUp();
		await cancel(["id-db-0"]);
		expect([find("id-db-1"), find("id-db-2")]).toMatchObject([{ cancelling: false }, { cancelling: false }]);
	});

	test("fences off an eviction that comes late: it names the old version", async () => {
		const { cancel, evictLate, pods } = await setUp();
		await cancel(["id-db-0"]);
		expect(evictLate(pods[0])).toEqual({ kind: "conflict" });
	});

	test("fences off before the reservation is gone", async () => {
		const { cancel, agent, evictLate, pods, find } = await setUp();
		agent.before = ({ verb, resource }) => {
			if (verb !== "update" || resource !== "leases" || !find("id-db-0")?.cancelling) return;
			expect(evictLate(pods[0])).toEqual({ kind: "conflict" });
		};
		await cancel(["id-db-0"]);
		expect.assertions(1);
	});

	test("touches with a value that was never used before", async () => {
		const { cancel, mark, version, pods, agent } = await setUp();
		const before = version(pods[0]);
		await mark("id-db-0");
		await cancel(["id-db-0"]);
		const between = version(pods[0]);
		await grant(agent, [pods[0]]);
		await cancel(["id-db-0"]);
		expect(new Set([before, between, version(pods[0])]).size).toBe(3);
	});

	test("does not go on where touching the pod changed nothing", async () => {
		const { cancel, agent, find, version, pods } = await setUp();
		agent.api.touchPod = async () => ({ kind: "touched", resourceVersion: version(pods[0]) });
		await expect(cancel(["id-db-0"])).rejects.toThrow(
			'cannot cancel the reservation of pod "shop/db-0" in cluster "eu-1": touching it changed nothing',
		);
		expect(find("id-db-0")).toMatchObject({ cancelling: true });
	});

	test("writes once for many: a hundred reservations take two writes", async () => {
		const world = simulateCluster();
		const agent = world.newAgent();
		const pods = Array.from({ length: 100 }, (_, index) => world.newPod(`db-${index}`));
		await grant(agent, pods);
		agent.requests.length = 0;
		await agent.local.cancel(
			budget,
			pods.map(({ name }) => `id-${name}`),
			{ sent: true },
		);
		expect(world.lease().state.reservations).toEqual([]);
		expect(agent.requests.filter((request) => request.startsWith("update leases"))).toHaveLength(2);
	});

	test("of a hundred at once, each by itself, leaves none behind", async () => {
		const world = simulateCluster();
		const agent = world.newAgent();
		const pods = Array.from({ length: 100 }, (_, index) => world.newPod(`db-${index}`));
		await grant(agent, pods);
		await Promise.all(pods.map(({ name }) => agent.local.cancel(budget, [`id-${name}`], { sent: true })));
		expect(world.lease().state.reservations).toEqual([]);
	});
});

describe("cancel() and what became of the pod", () => {
	test("ends the reservation of a pod that is alive, without a new observed", async () => {
		const { cancel, lease } = await setUp();
		const { observed } = lease().state;
		await cancel(["id-db-0"]);
		expect(lease().state).toMatchObject({ observed, reservations: [{ name: "db-1" }, { name: "db-2" }] });
	});

	test("ends that of a terminating pod, with the version that shows it", async () => {
		const { cancel, lease, server, pods, version, find } = await setUp();
		server.changePod(pods[0], { terminating: true });
		await cancel(["id-db-0"]);
		expect(find("id-db-0")).toBeUndefined();
		expect(lease().state.observed).toBe(version(pods[0]));
	});

	test("ends that of a finished pod, with the version that shows it", async () => {
		const { cancel, lease, server, pods, version } = await setUp();
		server.changePod(pods[0], { finished: true, ready: false });
		await cancel(["id-db-0"]);
		expect(lease().state.observed).toBe(version(pods[0]));
	});

	test("ends that of a replaced pod, with the replacement's version, and does not touch the replacement", async () => {
		const { cancel, lease, server, pods, newPod, version, find } = await setUp();
		server.removePod(pods[0]);
		const replacement = newPod("db-0");
		await cancel(["id-db-0"]);
		expect(find("id-db-0")).toBeUndefined();
		expect(version(replacement)).toBe(replacement.resourceVersion);
		expect(lease().state.observed).toBe(replacement.resourceVersion);
	});

	test("leaves that of a pod that is gone to the view: a 404 has no version", async () => {
		const { cancel, find, server, pods, agent, lease } = await setUp();
		server.removePod(pods[0]);
		await cancel(["id-db-0"]);
		expect(find("id-db-0")).toMatchObject({ cancelling: true });
		agent.see();
		await agent.local.endOnEvidence(budget);
		expect(find("id-db-0")).toBeUndefined();
		expect(lease().state.observed).toBe(server.podEvents.at(-1)?.resourceVersion);
	});

	test("ends the others where one pod cannot be asked, and says so", async () => {
		const { cancel, agent, lease } = await setUp();
		agent.before = ({ verb, name }) => {
			if (verb === "patch" && name === "shop/db-1") throw unavailable;
		};
		await expect(cancel(["id-db-0", "id-db-1", "id-db-2"])).rejects.toBe(unavailable);
		expect(lease().state.reservations).toMatchObject([{ id: "id-db-1", cancelling: true }]);
	});

	const steps = ["update leases", "get pods", "patch pods"];
	for (const step of steps) {
		test(`leaves the reservation where "${step}" gets no answer`, async () => {
			const { cancel, agent, find } = await setUp();
			agent.before = losing(step);
			await expect(cancel(["id-db-0"])).rejects.toBe(unavailable);
			expect(find("id-db-0")).toMatchObject({ cancelling: step !== "update leases" });
		});
	}
});

describe("cancel() of others", () => {
	test("goes on with one that somebody left half done, from a touch of its own", async () => {
		const { cancel, mark, other, version, pods, find } = await setUp();
		await mark("id-db-0");
		const before = version(pods[0]);
		await cancel(["id-db-0"], other);
		expect(version(pods[0])).not.toBe(before);
		expect(find("id-db-0")).toBeUndefined();
	});

	test("by two at once is harmless", async () => {
		const { cancel, other, find, evictLate, pods } = await setUp();
		await Promise.all([cancel(["id-db-0"]), cancel(["id-db-0"], other)]);
		expect(find("id-db-0")).toBeUndefined();
		expect(evictLate(pods[0])).toEqual({ kind: "conflict" });
	});

	test("does not end a later grant of the same pod", async () => {
		const { cancel, agent, other, find, pods, version } = await setUp();
		// The second agent reads the pod before the first one is done. Then the pod is granted again.
		const reached = Promise.withResolvers<void>();
		const goOn = Promise.withResolvers<void>();
		let updates = 0;
		other.before = ({ verb, resource }) => {
			if (verb !== "update" || resource !== "leases") return;
			updates += 1;
			if (updates < 2) return;
			reached.resolve();
			return goOn.promise;
		};
		const second = cancel(["id-db-0"], other);
		await reached.promise;
		await cancel(["id-db-0"]);
		const again = await agent.local.acquire(asks("m"), atOnce());
		if (again.kind !== "acquired") throw new Error("the Lease is free");
		agent.see();
		const granted = { id: "id-again", pod: pods[0], resourceVersion: version(pods[0]) };
		await agent.local.commit(again.acquisition, [granted]);
		goOn.resolve();
		await second;
		expect(find("id-again")).toMatchObject({ uid: pods[0].uid, cancelling: false });
	});

	test("of an id that nobody knows touches nothing", async () => {
		const { cancel, agent, lease } = await setUp();
		const before = lease();
		await cancel(["id-unknown"]);
		expect(lease()).toEqual(before);
		expect(agent.requests.some((request) => request.startsWith("patch"))).toBe(false);
	});

	test("takes the pod's ticket away before anything else: a confirm says no from the mark on", async () => {
		const { cancel, agent, other } = await setUp();
		const confirmed: boolean[] = [];
		agent.before = async ({ verb }) => {
			if (verb === "patch") confirmed.push(await other.local.confirm(budget, ["id-db-0"]));
		};
		expect(await other.local.confirm(budget, ["id-db-0"])).toBe(true);
		await cancel(["id-db-0"]);
		expect(confirmed).toEqual([false]);
	});
});

describe("cancel() of what was never sent", () => {
	test("takes the reservation back in one write, and leaves the pod alone", async () => {
		const { agent, find, version, pods } = await setUp();
		await agent.local.cancel(budget, ["id-db-0"], { sent: false });
		expect(find("id-db-0")).toBeUndefined();
		expect(find("id-db-1")).toBeDefined();
		expect(version(pods[0])).toBe(pods[0].resourceVersion);
		expect(agent.requests).toHaveLength(1);
	});

	test("writes nothing where it is gone already", async () => {
		const { agent, lease } = await setUp();
		const before = lease();
		await agent.local.cancel(budget, ["id-unknown"], { sent: false });
		expect(lease()).toEqual(before);
	});
});
