import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubeconfigAccess } from "../../agent/kubernetes/api-access.ts";
import { createApiConnection } from "../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../agent/process/system-clock.ts";
import { createWorkloadView } from "../../agent/views/workload-view.ts";
import { createRealWorld } from "../agent/cluster-api/real-contract-world.ts";
import { startTestCluster } from "./test-cluster.ts";

describe("createWorkloadView() over the small API server", () => {
	let cluster: Awaited<ReturnType<typeof startTestCluster>>;
	let world: Awaited<ReturnType<typeof createRealWorld>>;
	beforeAll(async () => {
		cluster = await startTestCluster();
		world = await createRealWorld({ kubeconfig: cluster.kubeconfig, context: "c1" });
	});
	afterAll(async () => {
		await world?.close();
		await cluster?.stop();
	});

	test("shows workloads of all kinds, and is proven in the namespace that somebody asks for alone", async () => {
		const access = await kubeconfigAccess({ path: cluster.kubeconfig, context: "c1" });
		const connection = createApiConnection({ access, clock: systemClock, cluster: "c1" });
		const problems: unknown[] = [];
		const opened = createWorkloadView({
			connection,
			clock: systemClock,
			random: () => 0.5,
			warn: (resource, message) => void problems.push(`${resource}: ${message}`),
			report: (problem) => void problems.push(problem),
		});
		const { view } = opened;
		try {
			const { namespace } = world;
			const made = await Promise.all(
				(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"] as const).map((kind) =>
					world.createController({ kind, name: `seen-${kind.toLowerCase()}`, replicas: 0 }),
				),
			);
			expect(view.isProven(namespace)).toBe(false);
			const provenWith = async (count: number): Promise<void> => {
				await expect
					.poll(
						() => {
							view.wanted(namespace);
							const own = [...view.workloads(namespace)].filter(
								({ name, isOfDeployment }) => name.startsWith("seen-") && !isOfDeployment,
							);
							return view.isProven(namespace) && own.length === count;
						},
						{ timeout: 20_000 },
					)
					.toBe(true);
			};
			await provenWith(5);
			expect(view.isProven("elsewhere")).toBe(false);
			const [first] = made;
			if (!first) throw new Error("five were made");
			await world.removeController(first);
			await provenWith(4);
			expect(problems).toEqual([]);
		} finally {
			opened.close();
			connection.close();
		}
	}, 60_000);
});
