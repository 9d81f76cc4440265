// Tests a member that leaves for good during a drain, while the other clusters' lists forget it one after the other.
import { afterEach, expect, test } from "vitest";
import { killComponent } from "../controlplane/faults.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { fleetControl, recoverAgents } from "./agents.ts";
import { createDatabase, type Database, type Pod } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { editFleetLists } from "./fleet-list.ts";
import { kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { startPlugin } from "./plugin-process.ts";

const flags = ["--ignore-daemonsets", "--delete-emptydir-data"];
const remaining = { members: ["c1", "c2"], forgotten: ["c3"] };
/** Keeps an evicted pod terminating until a test lets it stop. */
const annotations = { "bench/stop": "hang" };

async function letStop({ namespace }: Database, pods: readonly Pod[]): Promise<void> {
	for (const { context, name } of pods)
		await kubectl(context, ["annotate", "pod", name, "-n", namespace, "bench/stop-"]);
}

const ownPods = ({ namespace }: Database): string => `--pod-selector=database=${namespace}`;

/** Returns the cluster's nodes with pods of the database, most pods first. Four pods on three nodes leave at least two on one node. */
async function nodesOf(database: Database, cluster: string): Promise<readonly string[]> {
	const pods = (await database.pods()).filter(({ context }) => context === cluster);
	return [...Map.groupBy(pods, ({ node }) => node)]
		.toSorted(([, a], [, b]) => b.length - a.length)
		.map(([node]) => node);
}

describeOnFleet("a member that leaves while a drain goes on", () => {
	afterEach(uncordonAll);

	test("is not asked any more, and keeps nobody", async () => {
		await using database = await createDatabase({ replicas: 4, budget: { maxUnavailable: 1 }, annotations });
		await using lists = await editFleetLists();
		const [node = ""] = await nodesOf(database, "c1");
		const before = (await database.pods()).filter((pod) => pod.node === node);
		expect(before.length).toBeGreaterThan(1);
		using drain = startPlugin(["drain", node, "--context", "c1-operator", ownPods(database), ...flags]);
		await drain.printed(`evicting pod ${database.namespace}/`);
		await lists.declare("c1", remaining);
		await lists.declare("c2", remaining);
		const revive = await killComponent(fleetControl(), { cluster: "c3", component: "apiserver" });
		try {
			await letStop(database, before);
			const { code, stdout, stderr } = await drain.finished;
			expect(code, stdout + stderr).toBe(0);
			expect(stderr).toContain("the fleet has changed: c3 was removed; going on with c1, c2");
			for (const { name } of before) expect(stdout).toContain(`pod/${name} evicted`);
		} finally {
			await revive();
			await recoverAgents();
		}
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test("is waited for by whoever starts while the lists differ", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using lists = await editFleetLists();
		const [pod] = await database.pods();
		await lists.declare("c1", remaining);
		using evicting = startPlugin(evictArgs(database, pod, "-v=6"));
		// The members' lists differ, so the plugin asks them again. The first attempt needs one call, because the agent also asks the other one.
		await evicting.printed(/(call="[^"]*Describe"[^]*){4}/);
		expect((await database.pods()).map(({ uid }) => uid)).toContain(pod?.uid);
		await lists.restore("c1");
		const { code, stdout, stderr } = await evicting.finished;
		expect(code, stdout + stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test("stops a drain that is told to work in it too, by name, until it is listed again", async () => {
		await using database = await createDatabase({ replicas: 4, budget: { maxUnavailable: 1 }, annotations });
		await using lists = await editFleetLists();
		const [here = ""] = await nodesOf(database, "c1");
		const [there = ""] = await nodesOf(database, "c3");
		const nodes = [`c1-operator/${here}`, `c3-operator/${there}`];
		const before = (await database.pods()).filter(({ node }) => node === here || node === there);
		const both = ["--contexts", "c1-operator,c3-operator", "-y", ownPods(database)];
		using drain = startPlugin(["drain", ...nodes, ...both, ...flags]);
		await drain.printed(`evicting pod ${database.namespace}/`);
		await lists.declare("c1", remaining);
		await lists.declare("c2", remaining);
		await drain.printed("c1-operator: declares the fleet c1, c2; c3-operator: declares the fleet c1, c2, c3");
		const left = (await database.pods()).filter(({ node }) => node === here || node === there);
		expect(left).not.toEqual([]);
		for (const cluster of ["c1", "c2"]) await lists.restore(cluster);
		await letStop(database, before);
		const { code, stdout, stderr } = await drain.finished;
		expect(code, stdout + stderr).toBe(0);
		for (const { name } of left) expect(stdout).toContain(`pod/${name} evicted`);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});
});
