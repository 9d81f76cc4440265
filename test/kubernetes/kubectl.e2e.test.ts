import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyManifests } from "../../demo/apiserver/apply-manifests.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually } from "../e2e/kubectl.ts";
import { startTestCluster, type TestCluster } from "./test-cluster.ts";

const demo = join(repositoryRoot, "demo", "database.yaml");
const run = promisify(execFile);
const labels = { app: "db" };
const database = {
	apiVersion: "apps/v1",
	kind: "StatefulSet",
	metadata: { name: "db", namespace: "default" },
	spec: {
		replicas: 2,
		serviceName: "db",
		podManagementPolicy: "Parallel",
		selector: { matchLabels: labels },
		template: { metadata: { labels }, spec: { containers: [{ name: "db", image: "none" }] } },
	},
};

// Needs the real clusters only for their kubectl.
describeOnFleet("kubectl with the small API server", () => {
	let cluster: TestCluster;

	beforeAll(async () => {
		cluster = await startTestCluster({ nodes: 2 });
		applyManifests(cluster.controllers, [database]);
		await healthy();
	});
	afterAll(() => cluster.stop());

	const program = () => join(sharedFleet().dir, "bin", "kubectl");
	// kubectl's discovery cache must not outlive the test.
	const environment = () => ({ ...process.env, HOME: cluster.dir, KUBECONFIG: cluster.kubeconfig });
	const kubectl = async (...args: readonly string[]): Promise<string> =>
		(await run(program(), args, { env: environment() })).stdout;
	const healthy = () =>
		eventually("two healthy replicas", async () => {
			const ready = cluster.core.store.find("statefulsets.apps", "default/db")?.status?.["readyReplicas"];
			return ready === 2 && (await kubectl("get", "pods")).match(/1\/1 +Running/g)?.length === 2;
		});

	test("get prints the columns that people know", async () => {
		expect(await kubectl("get", "pods")).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\ndb-0 +1\/1 +Running +0 +\d+s\n/);
		expect(await kubectl("get", "nodes")).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION\nc1-n0 +Ready +/);
		expect(await kubectl("get", "pod", "db-0", "-o", "jsonpath={.metadata.labels.app}")).toBe("db");
		expect(await kubectl("get", "pods", "-l", "app=nothing", "-o", "name")).toBe("");
	});

	test("get -w shows a pod that is deleted on its way out and back", async () => {
		const watch = spawn(program(), ["get", "pod", "db-1", "-w"], { env: environment() });
		let seen = "";
		watch.stdout.setEncoding("utf8").on("data", (text: string) => (seen += text));
		await eventually("the first row", async () => seen.includes("Running"));
		expect(await kubectl("delete", "pod", "db-1")).toContain('pod "db-1" deleted');
		await eventually("its successor", async () => /Terminating[^]*Pending[^]*1\/1 +Running/.test(seen));
		watch.kill();
	});

	test("cordon, drain and uncordon", async () => {
		await healthy();
		expect(await kubectl("cordon", "c1-n0")).toBe("node/c1-n0 cordoned\n");
		expect(await kubectl("get", "node", "c1-n0")).toContain("Ready,SchedulingDisabled");
		const drained = await kubectl("drain", "c1-n0", "--ignore-daemonsets");
		expect(drained).toMatch(/^node\/c1-n0 already cordoned\nevicting pod default\/db-\d\npod\/db-\d evicted\n/);
		expect(drained).toContain("node/c1-n0 drained\n");
		expect(await kubectl("uncordon", "c1-n0")).toBe("node/c1-n0 uncordoned\n");
		await healthy();
	});

	test("drain waits for a budget of Kubernetes' own, and says why", async () => {
		const spec = { minAvailable: 2, selector: { matchLabels: labels } };
		const metadata = { name: "db", namespace: "default" };
		applyManifests(cluster.controllers, [{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec }]);
		const drained = kubectl("drain", "c1-n1", "--ignore-daemonsets", "--timeout=1s");
		await expect(drained).rejects.toThrow("Cannot evict pod as it would violate the pod's disruption budget.");
		await kubectl("delete", "pdb", "db");
		await kubectl("uncordon", "c1-n1");
	});

	test("apply makes and changes objects, of installed kinds too", async () => {
		await kubectl("apply", "-f", join(repositoryRoot, "agent", "deploy", "crd.yaml"));
		expect(await kubectl("apply", "-f", demo)).toContain("xpoddisruptionbudget.x-pdb.form3.tech/db created");
		expect(await kubectl("apply", "-f", demo)).toContain("statefulset.apps/db unchanged");
		expect(await kubectl("get", "xpdb")).toMatch(
			/^NAME +MIN AVAILABLE +MAX UNAVAILABLE +SUSPENDED +AGE\ndb +1 +\d+s\n$/,
		);
		expect(await kubectl("scale", "statefulset", "db", "--replicas=3")).toContain("scaled");
		await eventually("a third replica", async () => (await kubectl("get", "statefulset", "db")).includes("3/3"));
	});
});
