// `kubectl xpdb budgets -w` on real clusters, with lines and documents.
import { afterEach, expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { agentNames, fleetControl, recoverAgents } from "./agents.ts";
import { createDatabase, type Database } from "./database.ts";
import { kubectl } from "./kubectl.ts";
import { startPlugin } from "./plugin-process.ts";

const contexts = ["--contexts", "c1-operator,c2-operator,c3-operator"];

function watch({ namespace }: Database, ...more: readonly string[]) {
	return startPlugin(["budgets", "db", "-n", namespace, ...contexts, "-w", ...more]);
}

/** The pod goes and comes back, as often as nobody has seen it. */
function replacePod(cluster: string, { namespace }: Database): Promise<string> {
	return kubectl(cluster, ["delete", "pod", "db-0", "-n", namespace, "--wait=false"]);
}

const whole = / db +1 +3 +2 +3\n/;
const oneDown = / db +0 +2 +2 +3 +c\d\/db-0 /;

describeOnFleet("kubectl xpdb budgets -w", () => {
	afterEach(recoverAgents);

	test("appends a row when a pod goes, and when it is back; Ctrl-C ends it with 130", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = watch(database);
		await run.printed(new RegExp(`^NAMESPACE +NAME .*USED BY\n${database.namespace} +${whole.source}`));
		await replacePod("c2", database);
		await run.printed(new RegExp(`${whole.source}[^]*${oneDown.source}[^]*${whole.source}`));
		run.child.kill("SIGINT");
		expect(await run.finished).toMatchObject({ code: 130, stderr: "" });
	});

	test("goes on without a gap when the agents of a cluster are killed, one after the other", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = watch(database);
		await run.printed(whole);
		for (const [index, agent] of (await agentNames("c1")).entries()) {
			await fleetControl().killAgent("c1", agent);
			await recoverAgents();
			await replacePod("c1", database);
			const times = index + 1;
			await run.printed(new RegExp(`(${oneDown.source}[^]*${whole.source}[^]*){${times}}`));
		}
		run.child.kill("SIGINT");
		expect(await run.finished).toMatchObject({ code: 130 });
	});

	test("writes a document a line, and ends when nobody reads them any more", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = watch(database, "-o", "json");
		await run.printed("\n");
		await replacePod("c3", database);
		await run.printed(/"allowed":1[^]*"allowed":0[^]*"allowed":1/);
		const validate = createValidator(strictSchema("budgets-v1"));
		for (const line of run.output().trim().split("\n")) expect(validate(JSON.parse(line))).toEqual([]);
		run.child.stdout?.destroy();
		await replacePod("c3", database);
		expect(await run.finished).toMatchObject({ code: 0 });
	});

	test("goes by the agents of one context, which pass on what those of the others tell", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using run = startPlugin(["budgets", "-n", database.namespace, "--context", "c1-operator", "-w", "-o", "wide"]);
		await run.printed(/ db +1 +3 +2 +3 +1\/1 +1\/1 +1\/1 +maxUnavailable 1\n/);
		await replacePod("c3", database);
		await run.printed(/ db +0 +2 +2 +3 +1\/1 +1\/1 +0\/1 +maxUnavailable 1\n/);
		run.child.kill("SIGTERM");
		expect(await run.finished).toMatchObject({ code: 143 });
	});
});
