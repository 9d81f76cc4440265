import { afterEach, expect, test } from "vitest";
import type { Plan } from "../../plugin/plan/plan.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase } from "./database.ts";
import { eventually } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";
import { untilAlone } from "./until-alone.ts";
import { writesSince } from "./writes-since.ts";

const flags = ["--ignore-daemonsets", "--delete-emptydir-data"];

async function planOf(args: readonly string[]): Promise<Plan> {
	const { stdout, stderr } = await plugin(["plan", ...args, ...flags, "-o", "json"]);
	expect(stdout, stderr).toMatch(/^\{/);
	return JSON.parse(stdout) as Plan;
}

describeOnFleet("pods that no other node takes", () => {
	afterEach(uncordonAll);

	test("are foretold by a plan and a dry run as a drain of all nodes of a cluster leaves them", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const { namespace } = database;
		const nodes = ["c1-n0", "c1-n1", "c1-n2"];
		const args = [...nodes, "--context", "c1-operator", `--pod-selector=database=${namespace}`];
		const since = Date.now() * 1_000;
		let plan = await planOf(args);
		await eventually("a plan in which all pods are healthy", async () => {
			plan = await planOf(args);
			return plan.budgets.some(({ healthy, expected }) => healthy !== null && healthy === expected);
		});
		const [goes, ...others] = plan.pods;
		const [waits, ...more] = plan.impossible;
		expect({ others, more, exitCode: plan.exitCode }).toEqual({ others: [], more: [], exitCode: 3 });
		expect(goes).toMatchObject({ namespace, replacement: { reason: "NoOtherNode" } });
		expect(waits).toMatchObject({ namespace, reason: "BudgetStaysUsedUp" });
		const warning = `the replacement of ${namespace}/${goes?.pod} will find no node: no node of the cluster is left`;
		expect(plan.warnings).toEqual([expect.stringContaining(warning)]);

		const dryRun = await plugin(["drain", ...args, ...flags, "--dry-run=server"]);
		expect(dryRun.code, dryRun.stderr).toBe(1);
		expect(dryRun.stderr).toContain("will find no node: no node of the cluster is left");
		expect(dryRun.stdout).toContain(`evicting pod ${namespace}/${goes?.pod} (server dry run)\n`);
		expect(dryRun.stderr).toContain(
			`pod ${namespace}/${waits?.pod} would wait: budget ${namespace}/db has no disruption left: 5 of 6 healthy, 5 required`,
		);
		expect(dryRun.stdout).not.toContain(`node/${waits?.node} drained`);
		expect(await writesSince(since, database)).toEqual([]);

		// Without a terminal to ask on, the drain changes nothing after this warning.
		const asked = await plugin([
			"drain",
			...nodes.map((node) => `c1-operator/${node}`),
			"c2-operator/c2-n0",
			"--contexts=c1-operator,c2-operator",
			`--pod-selector=database=${namespace}`,
			...flags,
		]);
		expect(asked.code).toBe(1);
		expect(asked.stderr).toMatch(
			/^c1-operator +Warning: the replacements? of [^]+ will find no node: [^]+^Drain 4 nodes in 2 contexts:/m,
		);

		using drain = startPlugin(["drain", ...args, ...flags, "-o", "json"]);
		await drain.printed(/"pod\.evicted"/);
		await drain.printed(/"pod\.waiting"/);
		// This drain has cordoned all nodes of the cluster.
		await drain.printed(/"DrainDeadlock"/);
		drain.child.kill("SIGINT");
		const { code, stdout, stderr } = await drain.finished;
		expect(code, stderr).toBe(130);
		const events = stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
		expect(events.filter(({ type }) => type === "pod.evicted").map(({ pod }) => pod)).toEqual([
			`${namespace}/${goes?.pod}`,
		]);
		expect(events.filter(({ type }) => type === "pod.stopped").map(({ pod }) => pod)).toEqual([
			`${namespace}/${waits?.pod}`,
		]);
		const types = events.map(({ type, reason }) => (type === "diagnostic" ? reason : type));
		expect(types.indexOf("NoOtherNode")).toBeGreaterThan(0);
		expect(types.indexOf("NoOtherNode")).toBeLessThan(types.indexOf("node.cordoned"));
		expect(await database.violations(1)).toEqual([]);
	});
});
