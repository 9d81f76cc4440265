// Tests `kubectl xpdb budgets -w` on real clusters, with its lines, its JSON documents and its screen.
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { startInTerminal } from "../support/pseudo-terminal.ts";
import { agentNames, fleetControl, recoverAgents } from "./agents.ts";
import { createDatabase, type Database } from "./database.ts";
import { kubectl } from "./kubectl.ts";
import { letNodesTakeNewPods } from "./new-pods.ts";
import { startPlugin } from "./plugin-process.ts";
import { withoutSlowLines } from "./slow-lines.ts";

const contexts = ["--contexts", "c1-operator,c2-operator,c3-operator"];

function watch({ namespace }: Database, ...more: readonly string[]) {
	return startPlugin(["budgets", "db", "-n", namespace, ...contexts, "-w", ...more]);
}

/** Also keeps nodes from accepting the replacement: a pod that is down only for a moment may not be reported. */
async function takePodDown(cluster: string, database: Database): Promise<void> {
	await letNodesTakeNewPods(cluster, database, false);
	await deletePod(cluster, database);
}

async function bringPodBack(cluster: string, database: Database): Promise<void> {
	await letNodesTakeNewPods(cluster, database, true);
	await deletePod(cluster, database);
}

async function deletePod(cluster: string, { namespace }: Database): Promise<void> {
	await kubectl(cluster, ["delete", "pod", "db-0", "-n", namespace, "--wait=false", "--ignore-not-found"]);
}

const whole = / db +1 +3 +2 +3\n/;
const oneDown = / db +0 +2 +2 +3 +c\d\/db-0 /;

// Concurrent, because the tests mostly wait. Each has its own namespace.
describeOnFleet("kubectl xpdb budgets -w", () => {
	test.concurrent("appends a row when a pod goes, and when it is back; Ctrl-C ends it with 130", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = watch(database);
		await run.printed(new RegExp(`^NAMESPACE +NAME .*USED BY\n[^]*${database.namespace} +${whole.source}`));
		await takePodDown("c2", database);
		await run.printed(oneDown);
		await bringPodBack("c2", database);
		await run.printed(new RegExp(`${whole.source}[^]*${oneDown.source}[^]*${whole.source}`));
		run.child.kill("SIGINT");
		const { code, stderr } = await run.finished;
		expect({ code, stderr: withoutSlowLines(stderr) }).toEqual({ code: 130, stderr: "" });
	});

	test.concurrent("writes a document a line, and ends when nobody reads them any more", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = watch(database, "-o", "json");
		await run.printed("\n");
		await takePodDown("c3", database);
		await run.printed(/"allowed":1[^]*"allowed":0/);
		await bringPodBack("c3", database);
		await run.printed(/"allowed":1[^]*"allowed":0[^]*"allowed":1/);
		const validate = createValidator(strictSchema("budgets-v1"));
		for (const line of run.output().trim().split("\n")) expect(validate(JSON.parse(line))).toEqual([]);
		run.child.stdout?.destroy();
		await takePodDown("c3", database);
		expect(await run.finished).toMatchObject({ code: 0 });
	});

	test.concurrent("goes by the agents of one context, which pass on what those of the others tell", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = startPlugin(["budgets", "-n", database.namespace, "--context", "c1-operator", "-w", "-o", "wide"]);
		await run.printed(/ db +1 +3 +2 +3 +1\/1 +1\/1 +1\/1 +maxUnavailable 1\n/);
		await takePodDown("c3", database);
		await run.printed(/ db +0 +2 +2 +3 +1\/1 +1\/1 +0\/1 +maxUnavailable 1\n/);
		run.child.kill("SIGTERM");
		expect(await run.finished).toMatchObject({ code: 143 });
	});

	test.concurrent("draws a screen on a terminal, with the pod that goes, and gives the terminal back", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { dir, kubeconfigPath } = sharedFleet();
		const budget = `${database.namespace}/db`;
		using terminal = startInTerminal(
			join(dir, "bin", "kubectl-xpdb"),
			["budgets", "-n", database.namespace, ...contexts, "-w"],
			{ columns: 140, rows: 30, env: { KUBECONFIG: kubeconfigPath }, patienceMs: 3 * 60_000 },
		);
		// Reads the raw output, because this frame is soon replaced.
		await terminal.until(() => terminal.output().includes("asking the agents of all members"));
		await terminal.shows(/3\/3 live {2}1 budget: 0 used up/);
		await terminal.shows(new RegExp(`${budget}.* 1 of 1 +3/3 +2 +1/1 +1/1 +1/1`));
		expect(terminal.screen.isAlternate).toBe(true);
		await takePodDown("c2", database);
		await terminal.shows(new RegExp(`${budget}.* 0 of 1 +2/3 +2 +1/1 +0/1 +1/1 +c2/db-0`));
		terminal.press("\r");
		await terminal.shows(`── ${budget}`);
		await terminal.shows(/c1 +1 +1 +maxUnavailable 1 +live/);
		await bringPodBack("c2", database);
		await terminal.shows(new RegExp(`${budget}.* 1 of 1 +3/3`));
		terminal.press("e");
		await terminal.shows(`── EXPLAIN ${budget}`);
		await terminal.shows(`Yes: budget ${budget} allows an eviction now`);
		terminal.press("\r");
		await terminal.shows(/LAST \d+ MIN +[▁█!?]+[^]*[23] healthy/);
		terminal.press("/");
		await terminal.shows("/_");
		terminal.press("zzz");
		await terminal.shows("0 of 1 match, esc shows all");
		terminal.press("\r");
		const { lines, columns, rows } = terminal.screen;
		expect(lines.length).toBeLessThan(rows);
		expect(lines.every((line) => line.length <= columns)).toBe(true);
		terminal.press("\u0003");
		expect((await terminal.ended).exitCode).toBe(130);
		expect(terminal.screen.isAlternate).toBe(false);
		expect([...terminal.screen.modes]).toEqual(["25"]);
	});
});

describeOnFleet("kubectl xpdb budgets -w, while agents are killed", () => {
	afterEach(recoverAgents);

	test("goes on without a gap when the agents of a cluster are killed, one after the other", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = watch(database);
		await run.printed(whole);
		for (const [index, agent] of (await agentNames("c1")).entries()) {
			await fleetControl().killAgent("c1", agent);
			await recoverAgents();
			const before = `(${oneDown.source}[^]*${whole.source}[^]*){${index}}`;
			await takePodDown("c1", database);
			await run.printed(new RegExp(`${before}${oneDown.source}`));
			await bringPodBack("c1", database);
			await run.printed(new RegExp(`${before}${oneDown.source}[^]*${whole.source}`));
		}
		run.child.kill("SIGINT");
		expect(await run.finished).toMatchObject({ code: 130 });
	});
});
