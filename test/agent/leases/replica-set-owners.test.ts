import { describe, expect, test } from "vitest";
import type { ControllerName } from "../../../agent/cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../../../agent/cluster-api/scale-answer.ts";
import { countUnder } from "../../../agent/leases/count.ts";
import { ReplicaSetOwners } from "../../../agent/leases/replica-set-owners.ts";
import { controllerKey } from "../../../disruption/lease/remembered-controllers.ts";
import { budget, labels, selector } from "../../support/build-count.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { simulateCount } from "./count-world.ts";

const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "uid-of-web" };
const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "uid-of-web-1" };
const owned: ScaleAnswer = { kind: "replicas", replicas: 3, uid: replicaSet.uid, ownedBy: deployment };
const alone: ScaleAnswer = { kind: "replicas", replicas: 3, uid: replicaSet.uid };

function kept() {
	const clock = createManualClock();
	const owners = new ReplicaSetOwners(clock);
	return { clock, owners, answered: (answer: ScaleAnswer) => owners.ask(replicaSet, "shop", async () => answer) };
}

describe("ReplicaSetOwners", () => {
	test("knows a ReplicaSet's Deployment for less than 5 s from when it was asked", async () => {
		const { clock, owners } = kept();
		await owners.ask(replicaSet, "shop", async () => {
			clock.advance(2_000);
			return owned;
		});
		clock.advance(2_999);
		expect(owners.find(replicaSet, "shop")).toEqual(deployment);
		clock.advance(1);
		expect(owners.find(replicaSet, "shop")).toBeUndefined();
	});

	test("knows nothing of another uid under the name, or of the name in another namespace", async () => {
		const { owners, answered } = kept();
		await answered(owned);
		expect(owners.find({ ...replicaSet, uid: "another" }, "shop")).toBeUndefined();
		expect(owners.find(replicaSet, "shop-2")).toBeUndefined();
	});

	const answers: readonly { readonly name: string; readonly answer: ScaleAnswer }[] = [
		{ name: "is gone", answer: { kind: "gone" } },
		{ name: "belongs to nobody", answer: alone },
		{
			name: "belongs to something else than a Deployment",
			answer: { ...alone, ownedBy: { ...deployment, apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" } },
		},
	];
	for (const { name, answer } of answers) {
		test(`forgets one that ${name} now`, async () => {
			const { owners, answered } = kept();
			await answered(owned);
			expect(await answered(answer)).toBe(answer);
			expect(owners.find(replicaSet, "shop")).toBeUndefined();
		});
	}

	test("takes no older answer for a newer one", async () => {
		const { clock, owners, answered } = kept();
		const late = Promise.withResolvers<ScaleAnswer>();
		const first = owners.ask(replicaSet, "shop", () => late.promise);
		clock.advance(1);
		await answered(alone);
		late.resolve(owned);
		await first;
		expect(owners.find(replicaSet, "shop")).toBeUndefined();
	});

	test("keeps nothing of a question that failed", async () => {
		const { owners } = kept();
		await expect(owners.ask(replicaSet, "shop", async () => Promise.reject(new Error("no answer")))).rejects.toThrow(
			"no answer",
		);
		expect(owners.find(replicaSet, "shop")).toBeUndefined();
	});
});

function simulateDeployment(pods: number) {
	const world = simulateCount();
	const { server } = world;
	const declare = (wanted: number, { isOwned = true } = {}): void => {
		server.putController({ ...deployment, namespace: "shop", replicas: wanted, template: labels });
		server.putController({
			...replicaSet,
			namespace: "shop",
			replicas: 3,
			template: labels,
			...(isOwned && { ownedBy: deployment }),
		});
	};
	declare(3);
	server.deleteController(world.controller, "shop");
	for (const pod of [world.db0, world.db1, world.db2]) server.removePod(pod);
	for (let index = 0; index < pods; index += 1) {
		server.createPod({ name: `web-1-${index}`, namespace: "shop", labels, controller: replicaSet });
	}
	world.see();
	const asked: string[] = [];
	const getScale = (controller: ControllerName, namespace: string): Promise<ScaleAnswer> => {
		asked.push(controllerKey(controller));
		return world.options.api.getScale(controller, namespace);
	};
	const options = {
		...world.options,
		api: { ...world.options.api, getScale },
		replicaSets: new ReplicaSetOwners(world.clock),
	};
	/** Returns the controllers whose scale the count requests, and how many pods it expects. */
	const count = async () => {
		asked.length = 0;
		world.live();
		const question = { budget, selector, candidates: [] };
		const { count: found } = await countUnder(Promise.resolve(world.lease()), question, options);
		return { asked: [...asked], expected: found.expected };
	};
	return { world, declare, count };
}

describe("a count of a Deployment's pods", () => {
	const known = (pods: number) => ({ kind: "known", pods });

	test("asks whose its ReplicaSet is once in 5 s, and what it wants each time", async () => {
		const { world, declare, count } = simulateDeployment(3);
		expect((await count()).asked).toEqual(["apps/ReplicaSet/web-1", "apps/Deployment/web"]);
		declare(4);
		expect(await count()).toEqual({ asked: ["apps/Deployment/web"], expected: known(4) });
		world.clock.advance(5_000);
		expect((await count()).asked).toEqual(["apps/ReplicaSet/web-1", "apps/Deployment/web"]);
	});

	test("asks whose the ReplicaSet is where the Deployment is gone", async () => {
		const { world, count } = simulateDeployment(3);
		await count();
		world.server.deleteController(deployment, "shop");
		expect((await count()).asked).toEqual(["apps/Deployment/web", "apps/ReplicaSet/web-1"]);
	});

	test("is not made smaller by who takes the ReplicaSet from its Deployment and scales that down", async () => {
		const { declare, count } = simulateDeployment(3);
		await count();
		declare(1, { isOwned: false });
		expect(await count()).toEqual({ asked: ["apps/Deployment/web", "apps/ReplicaSet/web-1"], expected: known(4) });
	});

	test("does not take pods for more than are wanted that go already", async () => {
		const { world, count } = simulateDeployment(4);
		const [first] = world.server.pods();
		if (!first) throw new Error("there are four pods");
		world.server.changePod(first, { terminating: true });
		world.see();
		await count();
		expect((await count()).asked).toEqual(["apps/Deployment/web"]);
	});
});
