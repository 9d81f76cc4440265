import { afterEach, describe, expect, test, vi } from "vitest";
import { startTestCluster, type TestCluster } from "../../kubernetes/test-cluster.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closers.splice(0)) await close();
});

async function clusterWithDaemonSet() {
	const cluster = await startTestCluster({ nodes: 2 });
	closers.push(() => cluster.stop());
	const admin = cluster.controllers.as("admin", ["system:masters"]);
	const matchLabels = { app: "log" };
	const set = admin.create("daemonsets.apps", "default", {
		metadata: { name: "log" },
		spec: {
			selector: { matchLabels },
			template: { metadata: { labels: matchLabels }, spec: { containers: [{ name: "main", image: "none" }] } },
		},
	});
	await untilPods(cluster, 2);
	return { cluster, admin, set };
}

async function untilPods({ core }: TestCluster, count: number): Promise<void> {
	await vi.waitFor(() => expect(core.store.list("pods")).toHaveLength(count), { timeout: 10_000 });
}

describe("runGarbageCollector()", () => {
	for (const propagationPolicy of ["Background", "Foreground"]) {
		test(`deletes the pods of a DaemonSet that is deleted: ${propagationPolicy}`, async () => {
			const { cluster, admin, set } = await clusterWithDaemonSet();
			admin.remove("daemonsets.apps", set, { propagationPolicy });
			await untilPods(cluster, 0);
			await vi.waitFor(() => expect(cluster.core.store.list("daemonsets.apps")).toEqual([]), { timeout: 10_000 });
		});
	}
});
