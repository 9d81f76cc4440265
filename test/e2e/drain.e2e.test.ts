import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase } from "./database.ts";
import { getJson } from "./get-json.ts";
import { kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const flags = ["--ignore-daemonsets", "--delete-emptydir-data"];

interface NodeObject {
	readonly spec: { readonly unschedulable?: boolean };
}

describeOnFleet("kubectl xpdb drain", () => {
	afterEach(uncordonAll);

	test("drains a node in one context with kubectl's lines", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const [pod] = await database.pods();
		const node = pod?.node ?? "";
		const result = await plugin(["drain", node, "--context", `${pod?.context}-operator`, ...flags]);
		expect(result.code, result.stderr).toBe(0);
		expect(result.stdout).toContain(`node/${node} cordoned\n`);
		expect(result.stdout).toContain(`evicting pod ${database.namespace}/${pod?.name}\n`);
		expect(result.stdout).toContain(`pod/${pod?.name} evicted\n`);
		expect(result.stdout).toContain(`node/${node} drained\n`);
		expect((await getJson<NodeObject>(pod?.context ?? "", `/api/v1/nodes/${node}`)).spec.unschedulable).toBe(true);
		expect((await database.pods()).filter((each) => each.node === node)).toEqual([]);
		expect(await database.violations(1)).toEqual([]);
	});

	test("drains one node in each of three contexts under one budget", async () => {
		await using database = await createDatabase({ replicas: 3, budget: { maxUnavailable: 1 } });
		const { contexts } = sharedFleet();
		const nodes = contexts.map((context) => `${context}-operator/${context}-n0`);
		const operators = contexts.map((context) => `${context}-operator`).join(",");
		const result = await plugin(["drain", ...nodes, "--contexts", operators, "-y", ...flags]);
		expect(result.code, result.stderr).toBe(0);
		for (const context of contexts) expect(result.stdout).toContain(`node/${context}-n0 drained`);
		await database.ready();
		expect((await database.pods()).filter(({ node }) => node.endsWith("-n0"))).toEqual([]);
		expect(await database.violations(1)).toEqual([]);
	});

	test("three drains race in three clusters and never go below one global budget", async () => {
		await using database = await createDatabase({ replicas: 3, budget: { maxUnavailable: 1 } });
		const results = await Promise.all(
			sharedFleet().contexts.map((context) =>
				plugin(["drain", `${context}-n1`, "--context", `${context}-operator`, ...flags]),
			),
		);
		for (const result of results) expect(result.code, result.stderr).toBe(0);
		await database.ready();
		const samples = await database.samples();
		expect(samples.filter(({ disruption }) => disruption).length).toBeGreaterThanOrEqual(3);
		expect(await database.violations(1)).toEqual([]);
	});

	test("drains every node of a cluster in turn, the agents' own included", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		for (const node of ["c1-n0", "c1-n1", "c1-n2"]) {
			const result = await plugin(["drain", node, "--context", "c1-operator", ...flags]);
			expect(result.code, result.stdout + result.stderr).toBe(0);
			expect(result.stdout).toContain(`node/${node} drained`);
			await kubectl("c1", ["uncordon", node]);
			await database.ready();
		}
		expect(await database.violations(1)).toEqual([]);
	});

	test("asks before it drains in several contexts, and refuses without a terminal and without -y", async () => {
		const result = await plugin(["drain", "c1-n0", "c2-n0", "--contexts", "c1-operator,c2-operator", ...flags]);
		expect(result.code).toBe(1);
		expect(result.stderr).toContain("-y");
		expect((await getJson<NodeObject>("c1", "/api/v1/nodes/c1-n0")).spec.unschedulable).toBeUndefined();
	});

	test("running the same drain again continues", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { minAvailable: 6 } });
		const node = (await database.pods()).find(({ context }) => context === "c2")?.node ?? "";
		const args = ["drain", node, "--context", "c2-operator", ...flags];
		using first = startPlugin(args);
		await first.printed(/\/db has no disruption left: 6( of 6)? healthy, 6 required/);
		first.child.kill("SIGINT");
		expect((await first.finished).code).toBe(130);
		for (const context of sharedFleet().contexts) {
			const patch = JSON.stringify({ spec: { minAvailable: 5 } });
			await kubectl(context, ["patch", "xpdb", "db", "-n", database.namespace, "--type=merge", "-p", patch]);
		}
		const second = await plugin(args);
		expect(second.code, second.stderr).toBe(0);
		expect(second.stdout).toContain(`node/${node} already cordoned`);
		expect(second.stdout).toContain(`node/${node} drained`);
		expect(await database.violations(1)).toEqual([]);
	});
});
