// Tests on real clusters how a run reports pods that do not come back, and that --for=replaced waits for them.
import { afterEach, expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase, type Database } from "./database.ts";
import { letNodesTakeNewPods } from "./new-pods.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";
import { untilAlone } from "./until-alone.ts";

async function drainArgs({ namespace, pods }: Pick<Database, "namespace" | "pods">): Promise<readonly string[]> {
	const pod = (await pods()).find(({ context }) => context === "c1");
	if (!pod) throw new Error("no pod in c1");
	const selector = `--pod-selector=database=${namespace}`;
	return ["drain", pod.node, "--context", "c1-operator", selector, "--ignore-daemonsets"];
}

describeOnFleet("a run whose pods do not come back", () => {
	afterEach(uncordonAll);

	test("says so, with kubectl's exit code", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const args = await drainArgs(database);
		await letNodesTakeNewPods("c1", database, false);
		const { namespace } = database;
		const { code, stderr } = await plugin(args);
		expect(code, stderr).toBe(0);
		expect(stderr).toMatch(new RegExp(`^not recovered: ${namespace}/db 2/3, .*in c1`, "m"));
	});

	test("fails with --for=replaced when its time is over, and names the pod and the scheduler's reason", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const args = await drainArgs(database);
		await letNodesTakeNewPods("c1", database, false);
		const { namespace } = database;
		const { code, stdout } = await plugin([...args, "--for=replaced", "--timeout=20s", "-o", "json"]);
		expect(code, stdout).toBe(1);
		const events = stdout
			.trim()
			.split("\n")
			.map((line): Readonly<Record<string, unknown>> => JSON.parse(line) as Readonly<Record<string, unknown>>);
		expect(events.filter(({ type }) => type === "diagnostic")).toContainEqual(
			expect.objectContaining({
				reason: "TimedOut",
				message: `budget ${namespace}/db has not recovered within 20s`,
			}),
		);
		const left = [
			expect.objectContaining({
				budget: `${namespace}/db`,
				healthy: 2,
				expected: 3,
				reason: "NotRecovered",
				usedBy: [expect.objectContaining({ context: "c1-operator", pod: `${namespace}/db-0`, state: "Pending" })],
				message: expect.stringMatching(/^not recovered: \S+ 2\/3, \S+\/db-0 in c1: Pending \S+, 0\/3 nodes/),
			}),
		];
		expect(events.filter(({ type }) => type === "budget.notRecovered")).toEqual(left);
		expect(events.at(-1)).toMatchObject({
			type: "summary",
			exitCode: 1,
			notRecovered: left,
			drained: [expect.any(String)],
		});
	});

	test("ends with --for=replaced as soon as they are back, and says nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const args = await drainArgs(database);
		using run = startPlugin([...args, "--for=replaced", "--timeout=2m"]);
		const { code, stderr } = await run.finished;
		expect(code, stderr).toBe(0);
		expect(stderr).not.toContain("recovered");
		expect(await database.violations(1)).toEqual([]);
	});
});
