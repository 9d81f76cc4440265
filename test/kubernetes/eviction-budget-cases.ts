import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const evicted = { kind: "Status", status: "Success" };
const wouldViolate = "Cannot evict pod as it would violate the pod's disruption budget.";

async function createPods(world: ContractWorld, name: string, readiness: readonly boolean[]): Promise<void> {
	for (const [at, isReady] of readiness.entries()) {
		await world.createPod({ name: `${name}-${at}`, labels: { app: name }, phase: "Running", isReady });
	}
}

export const evictionBudgetCases: readonly ContractCase[] = [
	{
		name: "lets as many pods go as the budget allows, and refuses the next with its numbers",
		async run(world) {
			await createPods(world, "limited", [true, true]);
			await world.createBudget("limited", { minAvailable: 1 }, (status) => status["disruptionsAllowed"] === 1);
			expect(await world.evict("limited-0")).toMatchObject({ code: 201, body: evicted });
			await world.until("the budget to be used up", async () => {
				const budget = await world.read(world.path("poddisruptionbudgets", "limited", "policy/v1"));
				return budget.status?.["disruptionsAllowed"] === 0 && budget.status["currentHealthy"] === 1;
			});
			const answer = await world.evict("limited-1");
			expect(answer).toMatchObject({
				code: 429,
				body: {
					kind: "Status",
					status: "Failure",
					reason: "TooManyRequests",
					message: wouldViolate,
					details: {
						causes: [
							{
								reason: "DisruptionBudget",
								message: "The disruption budget limited needs 1 healthy pods and has 1 currently",
							},
						],
					},
				},
			});
			expect(answer.headers["retry-after"]).toBeUndefined();
			expect((await world.findPod("limited-1"))?.metadata.deletionTimestamp).toBeUndefined();
		},
	},
	{
		name: "refuses a dry run too where the budget is used up",
		async run(world) {
			await createPods(world, "dry-limit", [true]);
			await world.createBudget("dry-limit", { minAvailable: 1 }, (status) => status["currentHealthy"] === 1);
			expect(await world.evict("dry-limit-0", { dryRun: ["All"] })).toMatchObject({ code: 429 });
		},
	},
	{
		name: "uses up nothing in a dry run",
		async run(world) {
			await createPods(world, "dry-free", [true, true]);
			await world.createBudget("dry-free", { minAvailable: 1 }, (status) => status["disruptionsAllowed"] === 1);
			expect(await world.evict("dry-free-0", { dryRun: ["All"] })).toMatchObject({ code: 201 });
			expect(await world.evict("dry-free-1", { dryRun: ["All"] })).toMatchObject({ code: 201 });
		},
	},
	{
		name: "asks to come back in ten seconds while the budget's controller has not seen it",
		async run(world) {
			await createPods(world, "unseen", [true]);
			await world.target.pauseControllers();
			try {
				await world.create(world.path("poddisruptionbudgets", "", "policy/v1"), {
					metadata: { name: "unseen" },
					spec: { minAvailable: 0, selector: { matchLabels: { app: "unseen" } } },
				});
				const answer = await world.evict("unseen-0");
				expect(answer.headers["retry-after"]).toBe("10");
				expect(answer).toMatchObject({
					code: 429,
					body: {
						reason: "TooManyRequests",
						message: wouldViolate,
						details: {
							retryAfterSeconds: 10,
							causes: [
								{
									reason: "DisruptionBudget",
									message: "The disruption budget unseen is still being processed by the server.",
								},
							],
						},
					},
				});
			} finally {
				await world.target.resumeControllers();
			}
		},
	},
	{
		name: "fails with a 500 where two budgets cover the pod",
		async run(world) {
			await createPods(world, "doubled", [true]);
			await world.createBudget("doubled", { minAvailable: 0 }, () => true);
			await world.create(world.path("poddisruptionbudgets", "", "policy/v1"), {
				metadata: { name: "doubled-too" },
				spec: { minAvailable: 0, selector: { matchLabels: { app: "doubled" } } },
			});
			const message =
				"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
			expect(await world.evict("doubled-0")).toMatchObject({
				code: 500,
				body: { kind: "Status", status: "Failure", message, code: 500 },
			});
		},
	},
	{
		name: "a 409 leaves the pod alone",
		async run(world) {
			await createPods(world, "kept", [true, true]);
			await world.createBudget("kept", { minAvailable: 1 }, (status) => status["disruptionsAllowed"] === 1);
			const pod = await world.findPod("kept-0");
			expect(await world.evict("kept-0", { preconditions: { uid: "another" } })).toMatchObject({ code: 409 });
			expect(await world.findPod("kept-0")).toEqual(pod);
		},
	},
	{
		name: "lets an unready pod go where enough others are healthy",
		async run(world) {
			await createPods(world, "unready", [true, false]);
			await world.createBudget("unready", { minAvailable: 1 }, (status) => status["currentHealthy"] === 1);
			expect(await world.evict("unready-1")).toMatchObject({ code: 201, body: evicted });
		},
	},
	{
		name: "keeps an unready pod where too few are healthy",
		async run(world) {
			await createPods(world, "broken", [false]);
			await world.createBudget("broken", { minAvailable: 1 }, (status) => status["desiredHealthy"] === 1);
			expect(await world.evict("broken-0")).toMatchObject({ code: 429 });
		},
	},
	{
		name: "lets any unready pod go where the budget says AlwaysAllow",
		async run(world) {
			await createPods(world, "always", [false]);
			const spec = { minAvailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" };
			await world.createBudget("always", spec, (status) => status["desiredHealthy"] === 1);
			expect(await world.evict("always-0")).toMatchObject({ code: 201, body: evicted });
		},
	},
	{
		name: "asks no budget for a pod that is finished",
		async run(world) {
			await world.createPod({ name: "finished-0", labels: { app: "finished" }, phase: "Succeeded", isReady: false });
			await world.createPod({ name: "finished-1", labels: { app: "finished" }, phase: "Running" });
			await world.createBudget("finished", { minAvailable: 1 }, (status) => status["currentHealthy"] === 1);
			expect(await world.evict("finished-0")).toMatchObject({ code: 201, body: evicted });
			expect(await world.findPod("finished-0")).toBeUndefined();
		},
	},
	{
		name: "counts what a controller wants, for maxUnavailable",
		async run(world) {
			const labels = { app: "counted" };
			await world.create(world.path("statefulsets", "", "apps/v1"), {
				metadata: { name: "counted" },
				spec: {
					replicas: 2,
					serviceName: "counted",
					podManagementPolicy: "Parallel",
					selector: { matchLabels: labels },
					template: {
						metadata: { labels },
						spec: { schedulerName: "nobody", containers: [{ name: "main", image: "none" }] },
					},
				},
			});
			await world.createBudget("counted", { maxUnavailable: 1 }, (status) => status["expectedPods"] === 2);
			const budget = await world.read(world.path("poddisruptionbudgets", "counted", "policy/v1"));
			expect(budget.status).toMatchObject({ desiredHealthy: 1, currentHealthy: 0, disruptionsAllowed: 0 });
		},
	},
];
