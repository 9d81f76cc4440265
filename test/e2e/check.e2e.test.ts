// `kubectl xpdb check` on real clusters: what it finds there, each thing made wrong and put right again.
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { recoverAgents } from "./agents.ts";
import { type Checked, eventuallyFinds, everywhere, found, operators, runCheck } from "./check/run-check.ts";
import { createDatabase, type Database } from "./database.ts";
import { editFleetLists } from "./fleet-list.ts";
import { apply, eventually, kubectl } from "./kubectl.ts";
import { plugin } from "./plugin-process.ts";
import { removeNamespace } from "./remove-namespace.ts";
import { writesSince } from "./writes-since.ts";

const inNamespace = ({ namespace }: Pick<Database, "namespace">): readonly string[] => ["-n", namespace];

describeOnFleet("kubectl xpdb check", () => {
	test("finds nothing in a fleet that is well, for operators and with their rights alone, and writes nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const since = Date.now() * 1_000;
		const { exitCode, checks } = await eventuallyFinds([], ...everywhere, ...inNamespace(database));
		expect(exitCode).toBe(0);
		expect(new Set(checks.map(({ category }) => category)).size).toBe(6);
		expect(checks.every(({ result }) => result === "ok")).toBe(true);
		expect(await writesSince(since, database)).toEqual([]);
		const plain = await plugin(["check", ...everywhere, ...inNamespace(database)]);
		expect(plain, plain.stderr).toMatchObject({ code: 0, stderr: "" });
		expect(plain.stdout).toMatch(
			/^access +c1-operator +c2-operator +c3-operator\nok API server answers, >= 1\.30 +v1\./,
		);
		// Where no context leads to a member its agents still speak, through others'.
		const partly = ["MemberWithoutContext in c2", "MemberWithoutContext in c3", "NotChecked in c2", "NotChecked in c3"];
		const alone = await eventuallyFinds(partly, "--context", "c1-operator", "--fail-on=warn", ...inNamespace(database));
		expect(alone.exitCode).toBe(3);
	});

	test("finds budgets that differ, that nobody can judge or meet, that select nothing, and pods that nobody owns", async () => {
		await using database = await createDatabase({ replicas: 1 });
		const { namespace } = database;
		const budget = (name: string, app: string, spec: object): object => ({
			apiVersion: "x-pdb.form3.tech/v1alpha1",
			kind: "XPodDisruptionBudget",
			metadata: { name, namespace },
			spec: { selector: { matchLabels: { app } }, ...spec },
		});
		const bare = {
			apiVersion: "v1",
			kind: "Pod",
			metadata: { name: "alone", namespace, labels: { app: "bare" } },
			spec: { containers: [{ name: "c", image: "example.com/c:1" }] },
		};
		const objectsOf = (context: string): readonly object[] => [
			budget("db", "db", { maxUnavailable: context === "c2" ? 2 : 1 }),
			budget("strict", "db", { maxUnavailable: 0 }),
			budget("idle", "none", { maxUnavailable: 1 }),
			budget("bare", "bare", { maxUnavailable: 1 }),
			budget("split", context === "c1" ? "x" : "y", { maxUnavailable: 1 }),
			budget("both", "db", { maxUnavailable: 1, minAvailable: 1 }),
			...(context === "c3" ? [] : [bare]),
		];
		await Promise.all(sharedFleet().contexts.map((context) => apply([context], objectsOf(context))));
		const wanted = [
			"BudgetsDiffer",
			"BudgetNeverMet",
			"BudgetSelectsNothing",
			"SelectorsDiffer",
			"InvalidBudget",
			// The two that cannot be judged are not said to be met, nor their pods to have owners.
			"NotChecked",
			"NotChecked",
			"PodsWithoutOwner in c1-operator",
			"PodsWithoutOwner in c2-operator",
		];
		const { exitCode } = await eventuallyFinds(wanted, ...everywhere, ...inNamespace(database));
		expect(exitCode).toBe(3);
		const plain = await plugin(["check", ...everywhere, ...inNamespace(database), "-o", "short"]);
		expect(plain.stdout).not.toMatch(/^(access|rights|agents|fleet|policies) /m);
		expect(plain.stdout).toContain(`budget ${namespace}/db: c2: maxUnavailable 2, elsewhere maxUnavailable 1`);
		expect(plain.stdout).toContain(
			`budget ${namespace}/strict with maxUnavailable 0 needs 3 healthy of 3 expected pods`,
		);
		expect(plain.stdout).toContain(`  fix:  kubectl xpdb explain pod/alone -n ${namespace} --context c1-operator\n`);
		expect(plain.stdout).toMatch(/Put right first: (XPDB2201, XPDB2202|XPDB2202, XPDB2201)\.\n$/);
	});

	test("finds a single agent, pods that look like agents, and x-pdb beside them", async () => {
		const namespace = `check-${randomBytes(4).toString("hex")}`;
		const webhook = `x-pdb-${namespace}`;
		await apply(["c3"], [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
		try {
			await kubectl("c2", ["scale", "deployment", "xpdb-agent", "-n", "xpdb-system", "--replicas=1"]);
			await apply(
				["c3"],
				[
					{
						apiVersion: "v1",
						kind: "Pod",
						metadata: { name: "a", namespace, labels: { "app.kubernetes.io/name": "xpdb-agent" } },
						spec: { containers: [{ name: "c", image: "example.com/c:1" }] },
					},
					{
						apiVersion: "admissionregistration.k8s.io/v1",
						kind: "ValidatingWebhookConfiguration",
						metadata: { name: webhook },
						webhooks: [
							{
								name: "eviction.x-pdb.form3.tech",
								admissionReviewVersions: ["v1"],
								sideEffects: "None",
								failurePolicy: "Ignore",
								clientConfig: { service: { name: "x-pdb", namespace } },
								// It is asked about nothing that anybody else does here.
								namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
								rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods/eviction"] }],
							},
						],
					},
				],
			);
			const wanted = ["SingleAgent in c2-operator", "ForeignAgentPods in c3-operator", "XpdbBeside in c3-operator"];
			const { exitCode } = await eventuallyFinds(wanted, ...everywhere, "-n", namespace);
			expect(exitCode).toBe(0);
			const before = ["AgentsThere in c3", "ForeignAgentPods in c3", "XpdbBeside in c3"];
			expect(found(await runCheck("--pre", "--context", "c3"))).toEqual(before);
		} finally {
			await kubectl("c3", ["delete", "validatingwebhookconfiguration", webhook, "--ignore-not-found"]);
			await kubectl("c2", ["scale", "deployment", "xpdb-agent", "-n", "xpdb-system", "--replicas=2"]);
			await removeNamespace(["c3"], namespace);
			await recoverAgents();
		}
	});

	test("finds a list that leaves out a member, and has no budgets to judge then", async () => {
		await using lists = await editFleetLists();
		await lists.declare("c1", { members: ["c1", "c2"] });
		let last: Checked | undefined;
		await eventually("check to name who is left out", async () => {
			last = await runCheck(...everywhere);
			return found(last).includes("MemberUnresolved in c1-operator");
		});
		expect(last?.exitCode).toBe(3);
		expect(last && found(last)).toEqual(expect.arrayContaining(operators.map((name) => `FleetsDiffer in ${name}`)));
		expect(last?.checks.filter(({ category }) => category === "budgets").map(({ result }) => result)).toEqual([
			"unknown",
			"unknown",
			"unknown",
			"unknown",
		]);
	});

	test("says of a cluster that gives no answer that it is not known, at once and once", async () => {
		const silent = ["check", "--context", "c1-operator", "--server", "https://127.0.0.1:1"];
		const { code, stdout } = await plugin(silent);
		expect(code, stdout).toBe(4);
		expect(stdout).not.toMatch(/^ok /m);
		expect(stdout).toMatch(/^\? {2}API server answers, >= 1\.30 +\? +XPDB1101\n {4}c1-operator: .*ECONNREFUSED/m);
		expect(stdout.match(/its API server gives no answer/g)).toHaveLength(1);
	});
});
