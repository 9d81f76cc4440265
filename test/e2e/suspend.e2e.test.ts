// Tests suspending and unsuspending a budget in all members, as an operator who has the role xpdb-suspenders. Some tests take the role
// away.
import { hostname, userInfo } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readTimeline } from "../../demo/audit/audit.ts";
import { type EndFault, killComponent, untilAgentsReady } from "../controlplane/faults.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventProblems } from "../support/json-schema.ts";
import { fleetControl } from "./agents.ts";
import { applyBudget, createDatabase, type Database } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { clientOf, getJson } from "./get-json.ts";
import { apply, eventually, kubectl } from "./kubectl.ts";
import { may } from "./may.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const all = ["--contexts", "c1-operator,c2-operator,c3-operator"];
const clusters = ["c1", "c2", "c3"];
const me = `${userInfo().username}@${hostname()}`;
const annotation = "xpdb.form3.tech/suspended";

interface Budget {
	readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
	readonly spec: { readonly suspend?: boolean };
}

interface Told {
	readonly items: readonly {
		readonly reason: string;
		readonly type: string;
		readonly note: string;
		readonly reportingInstance: string;
	}[];
}

async function allowToSuspend(contexts: readonly string[]): Promise<void> {
	await apply(contexts, [
		{
			apiVersion: "rbac.authorization.k8s.io/v1",
			kind: "ClusterRoleBinding",
			metadata: { name: "alice-suspends" },
			roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "xpdb-suspenders" },
			subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "xpdb-operators" }],
		},
	]);
	for (const context of contexts) await untilMayPatch(context, true);
}

async function forbidToSuspend(contexts: readonly string[]): Promise<void> {
	for (const context of contexts) {
		await kubectl(context, ["delete", "clusterrolebinding", "alice-suspends", "--ignore-not-found"]);
		await untilMayPatch(context, false);
	}
}

const untilMayPatch = (context: string, isSo: boolean): Promise<void> =>
	eventually(`alice ${isSo ? "may" : "may not"} patch budgets in ${context}`, async () => {
		const patches = { verb: "patch", group: "x-pdb.form3.tech", resource: "xpoddisruptionbudgets" };
		return (await may(clientOf(context), { user: "alice", groups: ["xpdb-operators"], ...patches })) === isSo;
	});

async function budgets({ namespace }: Database): Promise<readonly Budget[]> {
	const path = `/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets/db`;
	return Promise.all(clusters.map(async (context) => getJson<Budget>(context, path)));
}

async function suspendedIn(database: Database): Promise<readonly string[]> {
	const found = await budgets(database);
	return clusters.filter((_, index) => found[index]?.spec.suspend === true);
}

async function told(context: string, { namespace }: Database): Promise<Told["items"]> {
	const { items } = await getJson<Told>(context, `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
	return items.filter(({ reason }) => reason === "Suspended" || reason === "Unsuspended");
}

const evictFirst = (database: Database) => evictArgs(database, { name: "db-0", context: "c1" });

describeOnFleet("kubectl xpdb suspend", () => {
	beforeEach(async () => allowToSuspend(clusters));
	afterEach(async () => forbidToSuspend(clusters));

	test("lets evictions pass in the whole fleet, says who, when and why, and unsuspend ends it", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const at = ["db", "-n", database.namespace, ...all, "-y"];
		const suspended = await plugin(["suspend", ...at, "--reason", "storage migration"]);
		expect(suspended).toMatchObject({ code: 0 });
		expect(suspended.stdout).toBe(
			clusters.map((each) => `${each}-operator  xpoddisruptionbudget.x-pdb.form3.tech/db suspended\n`).join(""),
		);
		const undo = `kubectl xpdb unsuspend db -n ${database.namespace} --contexts=c1-operator,c2-operator,c3-operator`;
		expect(suspended.stderr).toContain(`blocks no eviction until you run: ${undo}\n`);
		for (const { metadata } of await budgets(database)) {
			expect(JSON.parse(metadata.annotations?.[annotation] ?? "")).toMatchObject({
				by: me,
				reason: "storage migration",
			});
		}
		for (const cluster of clusters) {
			expect(await told(cluster, database)).toMatchObject([
				{
					reason: "Suspended",
					type: "Warning",
					reportingInstance: me,
					note: expect.stringContaining("storage migration"),
				},
			]);
		}
		const budgetsShown = () => plugin(["budgets", "-n", database.namespace, "--context", "c1-operator"]);
		const row = new RegExp(`^${database.namespace} +db +off +3 +- +- +suspended by ${me} \\w+$`, "m");
		let shown = await budgetsShown();
		await eventually("the agents to have seen it", async () => {
			shown = await budgetsShown();
			return row.test(shown.stdout);
		});
		expect(shown.stderr).toMatch(
			new RegExp(`db is suspended and blocks no eviction: by ${me} for \\w+: storage migration\n$`),
		);
		const evicted = await plugin(evictFirst(database));
		expect(evicted.code).toBe(0);
		const warning = new RegExp(`db is suspended and blocks no eviction, by ${me} for \\w+: storage migration$`, "m");
		expect(evicted.stderr).toMatch(warning);
		await database.ready();
		expect((await plugin([...evictFirst(database), "--dry-run=server"])).stderr).toMatch(warning);

		const again = await plugin(["suspend", ...at, "--reason", "another"]);
		expect(again.code).toBe(0);
		expect(
			again.stdout.match(new RegExp(`already suspended by ${me} since \\S+: storage migration\n`, "g")),
		).toHaveLength(3);

		const ended = await plugin(["unsuspend", ...at, "-o", "json"]);
		expect(ended.code, ended.stdout).toBe(0);
		expect(eventProblems(ended.stdout)).toEqual([]);
		expect(await suspendedIn(database)).toEqual([]);
		for (const { metadata } of await budgets(database))
			expect(metadata.annotations ?? {}).not.toHaveProperty([annotation]);
		expect((await told("c2", database)).map(({ reason }) => reason).toSorted()).toEqual(["Suspended", "Unsuspended"]);
		using kept = startPlugin(evictFirst(database));
		await kept.printed("has no disruption left: 3 of 3 healthy, 3 required");
		kept.child.kill("SIGINT");
		expect(await kept.finished).toMatchObject({ code: 130, stdout: "" });
		// The operator's own account made both writes in each cluster.
		const writes = (await readTimeline(sharedFleet().clusters, { containing: database.namespace })).filter(
			({ verb, resource, namespace, dryRun }) =>
				verb === "patch" && resource === "xpoddisruptionbudgets" && namespace === database.namespace && !dryRun,
		);
		expect(
			writes
				.filter(({ user }) => user === "alice")
				.map(({ cluster }) => cluster)
				.toSorted(),
		).toEqual([...clusters, ...clusters].toSorted());
	});

	test("asks first, and without a terminal and -y touches nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const { code, stderr } = await plugin(["suspend", "db", "-n", database.namespace, ...all]);
		expect(code).toBe(1);
		expect(stderr).toContain("3 contexts need a confirmation, and there is no terminal to ask on");
		for (const dryRun of ["client", "server"]) {
			const rehearsed = await plugin(["suspend", "db", "-n", database.namespace, ...all, `--dry-run=${dryRun}`]);
			expect(rehearsed.code, rehearsed.stderr).toBe(0);
		}
		expect(await suspendedIn(database)).toEqual([]);
		expect(await told("c1", database)).toEqual([]);
	});

	test("refuses before anything is written: a member without a context, a missing right, selectors that differ, no such budget", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const at = ["db", "-n", database.namespace, "-y"];
		const wayless = await plugin(["suspend", ...at, "--contexts", "c1-operator,c2-operator"]);
		expect(wayless.code).toBe(4);
		expect(wayless.stderr).toMatch(
			/no context of this run leads to some, nothing was touched\n {2}c3 \(id \S+\): name its context too: --contexts=c1-operator,c2-operator,CONTEXT-OF-c3/,
		);

		await forbidToSuspend(["c2"]);
		const forbidden = await plugin(["suspend", ...at, ...all]);
		expect(forbidden.code).toBe(1);
		expect(forbidden.stderr).toMatch(
			/^c2-operator {2}error: unable to suspend budget "db": .*User "alice" cannot patch .*\nNothing was touched\.\n$/,
		);
		await allowToSuspend(["c2"]);

		expect(await plugin(["suspend", "none", "-n", database.namespace, "-y", ...all])).toMatchObject({
			code: 1,
			stderr: 'Error from server (NotFound): xpoddisruptionbudgets.x-pdb.form3.tech "none" not found\n',
		});

		await applyBudget(["c3"], database.namespace, { maxUnavailable: 0, selector: { matchLabels: { app: "other" } } });
		const differ = await plugin(["suspend", ...at, ...all]);
		expect(differ.code).toBe(1);
		expect(differ.stderr).toContain("would still block every eviction, nothing was touched");
		expect(await suspendedIn(database)).toEqual([]);
	});

	/** Pauses the command when it has rehearsed every write and written nothing, runs `happens`, and lets the command continue. */
	async function failingInTheMiddle(database: Database, command: string, happens: () => Promise<unknown>) {
		using run = startPlugin([command, "db", "-n", database.namespace, ...all, "-y"], {
			XPDB_PAUSE_POINT: "before-suspend",
		});
		await run.asleep();
		await happens();
		run.child.kill("SIGCONT");
		return await run.finished;
	}

	test("takes back what was written where a right goes away in the middle", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const { code, stdout, stderr } = await failingInTheMiddle(database, "suspend", async () => forbidToSuspend(["c2"]));
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toContain('c1-operator  budget "db": not suspended: taken back\n');
		expect(stderr).toContain('c3-operator  budget "db": not suspended: taken back\n');
		expect(stderr).toMatch(/budget \S+ applies as before: it is not suspended in c1, c2, c3\n$/);
		expect(await suspendedIn(database)).toEqual([]);
		for (const cluster of clusters) expect(await told(cluster, database)).toEqual([]);
	});

	test("overwrites nobody: an edit in the middle is a conflict, and the edit stays", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const { code, stderr } = await failingInTheMiddle(database, "suspend", async () =>
			applyBudget(["c2"], database.namespace, { maxUnavailable: 1 }),
		);
		expect(code).toBe(1);
		expect(stderr).toMatch(/^c2-operator {2}error: unable to suspend budget "db": .*the object has been modified/);
		expect(await suspendedIn(database)).toEqual([]);
		expect((await budgets(database))[1]?.spec).toMatchObject({ maxUnavailable: 1 });
	});

	for (const command of ["suspend", "unsuspend"] as const) {
		test(`${command} with an API server that dies in the middle: the budget holds, and the same command finishes`, async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
			if (command === "unsuspend") await plugin(["suspend", "db", "-n", database.namespace, ...all, "-y"]);
			const restart: EndFault[] = [];
			const run = async () => {
				try {
					return await failingInTheMiddle(database, command, async () => {
						restart.push(await killComponent(fleetControl(), { cluster: "c2", component: "apiserver" }));
					});
				} finally {
					for (const end of restart) await end();
					await untilAgentsReady(fleetControl(), "c2");
				}
			};
			const { code, stdout, stderr } = await run();
			expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
			expect(stderr).toMatch(/may still be suspended in c2; it applies (again )?in/);
			expect(stderr).toContain(`run: kubectl xpdb unsuspend db -n ${database.namespace} --contexts=`);
			expect(await suspendedIn(database)).toEqual(command === "suspend" ? [] : ["c2"]);
			// Connections of agents whose API server was away may break once more. Then the command changes nothing.
			await eventually(`the same command to ${command}`, async () => {
				const { code: next } = await plugin([command, "db", "-n", database.namespace, ...all, "-y"]);
				return next === 0;
			});
			expect(await suspendedIn(database)).toEqual(command === "suspend" ? clusters : []);
		});
	}
});
