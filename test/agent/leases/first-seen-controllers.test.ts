import { describe, expect, test } from "vitest";
import type { AcquireRequest, Count } from "../../../disruption/budget/cluster.ts";
import { fits } from "../../../disruption/lease/lease.ts";
import type { ControllerReference } from "../../../disruption/budget/pod.ts";
import { controllerKey, maxRememberedBytes } from "../../../disruption/lease/remembered-controllers.ts";
import { asks, atOnce, type SimulatedAgent, simulateCluster } from "../../support/simulated-agent.ts";

const rocket = (name: string): ControllerReference => ({
	apiVersion: "example.com/v1",
	kind: "Rocket",
	name,
	uid: `00000000-0000-4000-8000-${name.padStart(12, "0")}`,
});

function setUp() {
	const world = simulateCluster();
	const { server, newPod, newAgent } = world;
	const agent = newAgent();
	const launch = (name: string) => {
		const controller = rocket(name);
		server.putController({ ...controller, namespace: "shop", replicas: 1 });
		return newPod(name, { controller });
	};
	const counted = async (
		nonce: string,
		by: SimulatedAgent = agent,
		more: Partial<AcquireRequest> = {},
	): Promise<Count> => {
		by.see();
		const outcome = await by.local.acquire(asks(nonce, more), atOnce());
		if (outcome.kind !== "acquired") throw new Error(`held by ${outcome.holder}`);
		await by.local.release(outcome.acquisition);
		return outcome.count;
	};
	return { ...world, agent, launch, counted };
}

describe("a controller of another kind than Kubernetes' own", () => {
	test("is in the Lease before the first count that saw a pod of it is answered, and expected without that pod", async () => {
		const { server, agent, launch, counted, lease, newAgent } = setUp();
		const pod = launch("1");
		expect((await counted("n1")).expected).toEqual({ kind: "known", pods: 1 });
		expect(lease().state.controllers.map(controllerKey)).toEqual(["example.com/Rocket/1"]);
		server.removePod(pod);
		expect((await counted("n2")).expected).toEqual({ kind: "known", pods: 1 });
		// Another agent of the cluster knows it too, and so does this one after a restart.
		expect((await counted("n3", newAgent())).expected).toEqual({ kind: "known", pods: 1 });
		expect(agent.problems).toEqual([]);
	});

	test("is written though the hold need not be", async () => {
		const { agent, launch, counted, lease } = setUp();
		await counted("n1");
		launch("1");
		agent.see();
		const outcome = await agent.local.acquire(asks("n2", { mayBeUnwritten: true }), atOnce());
		expect(outcome).toMatchObject({ kind: "acquired", count: { expected: { kind: "known", pods: 1 } } });
		expect(outcome.kind === "acquired" && outcome.acquisition.unwritten).toBe(undefined);
		expect(lease().state.controllers.map(controllerKey)).toEqual(["example.com/Rocket/1"]);
	});

	test("is not counted where the Lease cannot be written", async () => {
		const { agent, launch, counted } = setUp();
		await counted("n1");
		launch("1");
		agent.see();
		let writes = 0;
		agent.before = ({ verb, resource }) => {
			if (verb === "update" && resource === "leases" && ++writes === 2) throw new Error("lost");
		};
		await expect(agent.local.acquire(asks("n2"), atOnce())).rejects.toThrow("lost");
	});

	test("leaves the Lease when it is gone", async () => {
		const { server, launch, counted, lease } = setUp();
		server.removePod(launch("1"));
		launch("2");
		await counted("n1");
		server.deleteController(rocket("2"), "shop");
		await counted("n2");
		expect(lease().state.controllers).toEqual([]);
	});

	test("is remembered by no look: nothing rests on it", async () => {
		const { agent, launch, lease, counted } = setUp();
		await counted("n1");
		launch("1");
		agent.see();
		expect((await agent.local.look(asks("n2"))).expected).toEqual({ kind: "known", pods: 1 });
		expect(lease().state.controllers).toEqual([]);
	});

	test("does not fill the Lease: of 10,000 some are remembered, and nobody says how many pods to expect", async () => {
		const { server, launch, counted, lease } = setUp();
		for (let index = 0; index < 10_000; index += 1) launch(String(index));
		const unknown = {
			kind: "unknown",
			reason: expect.stringMatching(/its Lease has no room to remember .*several budgets/),
		};
		expect((await counted("n1")).expected).toEqual(unknown);
		const rows = lease().state.controllers;
		const bytes = JSON.stringify(rows.map(({ apiVersion, kind, name, uid }) => [apiVersion, kind, name, uid])).length;
		expect(bytes).toBeGreaterThan(maxRememberedBytes - 1_000);
		expect(bytes).toBeLessThan(maxRememberedBytes + 1_000);
		expect(fits(lease())).toBe(true);
		// A later count adds no controller, and expects an unknown number even though all pods are gone.
		const { resourceVersion } = lease();
		for (const pod of server.pods()) server.removePod(pod);
		expect((await counted("n2")).expected).toEqual(unknown);
		expect(lease().state.controllers).toEqual(rows);
		expect(Number(lease().resourceVersion)).toBeGreaterThan(Number(resourceVersion));
	});
});
