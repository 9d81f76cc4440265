// Tests on real clusters how `kubectl xpdb budgets` lists the pods that use a budget up, and members whose budgets differ.
import { hostname, userInfo } from "node:os";
import { afterEach, expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { applyBudget, createDatabase, type Database } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

interface Documented {
	readonly items: readonly {
		readonly differs?: string;
		readonly bound: string;
		readonly usedBy: readonly Readonly<Record<string, string>>[];
	}[];
}

const contexts = ["--contexts", "c1-operator,c2-operator,c3-operator"];

async function budgetsOf({ namespace }: Database): Promise<Documented["items"][number] | undefined> {
	const { stdout, stderr } = await plugin(["budgets", "db", "-n", namespace, ...contexts, "-o", "json"]);
	const document = JSON.parse(stdout) as Documented;
	expect(createValidator(strictSchema("budgets-v1"))(document), stderr).toEqual([]);
	return document.items[0];
}

describeOnFleet("kubectl xpdb budgets", () => {
	afterEach(uncordonAll);

	test("names the pod that no node takes, in the scheduler's words, and the one that a run was granted, with the run", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 2 } });
		const { namespace } = database;
		await kubectl("c2", ["cordon", "-l", "kubernetes.io/hostname"]);
		await kubectl("c2", ["delete", "pod", "db-0", "-n", namespace, "--wait=false"]);
		await eventually("a pod that no node takes", async () => {
			const used = (await budgetsOf(database))?.usedBy ?? [];
			return used.some(
				({ cluster, state, message }) => cluster === "c2" && state === "Pending" && message !== undefined,
			);
		});
		using run = startPlugin(evictArgs(database, { name: "db-0", context: "c1" }), { XPDB_PAUSE_POINT: "after-commit" });
		await run.asleep();

		const me = `${userInfo().username}@${hostname()}`;
		// The reservation expires after half a minute.
		let found: Documented["items"][number] | undefined;
		await eventually("the agents to see who was granted", async () => {
			found = await budgetsOf(database);
			return found?.usedBy.length === 2;
		});
		const [wide, short] = await Promise.all([
			plugin(["budgets", "-n", namespace, ...contexts, "-o", "wide"]),
			plugin(["budgets", "-n", namespace, ...contexts]),
		]);
		expect(found?.usedBy).toMatchObject([
			{
				cluster: "c1",
				pod: `${namespace}/db-0`,
				state: "Reserved",
				person: me,
				operation: expect.stringMatching(/^evict [0-9a-f]{6}$/),
			},
			{
				cluster: "c2",
				pod: `${namespace}/db-0`,
				why: "NotReady",
				state: "Pending",
				message: expect.stringContaining("nodes are available"),
			},
		]);
		expect(wide.stdout).toMatch(/^NAMESPACE .* c1 +c2 +c3 +BOUND\n/);
		expect(wide.stdout).toMatch(/^BUDGET +CLUSTER +POD +STATE +AGE +OPERATION +BY +ACCOUNT +MESSAGE$/m);
		// Only the agent that committed the grant knows the token's account.
		const account = "(xpdb-system/xpdb-operator|-)";
		expect(wide.stdout).toMatch(
			new RegExp(`^${namespace}/db +c1 +db-0 +Reserved +\\d+s +evict [0-9a-f]{6} +${me} +${account}$`, "m"),
		);
		expect(wide.stdout).toMatch(/ c2 +db-0 +Pending +\S+ +- +- +- +0\/\d+ nodes are available: /);
		expect(short.stdout).toMatch(/ 0 +1 +1 +3 +c1\/db-0 Reserved \d+s, 1 more\n$/);
		run.child.kill("SIGCONT");
		expect(await run.finished).toMatchObject({ code: 0 });
	});

	test("says where members differ, and that the strictest holds", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		await applyBudget(["c3"], database.namespace, { maxUnavailable: 2 });
		const show = () => plugin(["budgets", "-n", database.namespace, ...contexts, "-o", "wide"]);
		let shown = await show();
		await eventually("the agents to have seen all of it", async () => {
			shown = await show();
			return / db +0 +3 +3 +3 /.test(shown.stdout) && shown.stdout.includes("elsewhere");
		});
		const { code, stdout, stderr } = shown;
		expect(code).toBe(0);
		expect(stdout).toContain("c3: maxUnavailable 2, elsewhere maxUnavailable 0\n");
		expect(stderr).toBe(
			`${database.namespace}/db differs: c3: maxUnavailable 2, elsewhere maxUnavailable 0: the strictest holds\n`,
		);
		expect(await budgetsOf(database)).toMatchObject({ bound: "c3: maxUnavailable 2, elsewhere maxUnavailable 0" });
	});
});
