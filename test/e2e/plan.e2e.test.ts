import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Plan } from "../../plugin/plan/plan.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { createDatabase, type Database } from "./database.ts";
import { getJson, podsPath } from "./get-json.ts";
import { apply, eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin } from "./plugin-process.ts";
import { storeBudgetIn } from "./store-budget.ts";
import { leasesOf, writesSince } from "./writes-since.ts";

const flags = ["--ignore-daemonsets", "--delete-emptydir-data"];
const validate = createValidator(strictSchema("plan-v1"));

const operators = (): string =>
	sharedFleet()
		.contexts.map((context) => `${context}-operator`)
		.join(",");

/** Limits a plan to the database's pods, because some pods of earlier tests can never go. */
const ownPods = ({ namespace }: Database): string => `--pod-selector=database=${namespace}`;

/** Returns the -o json plan. Checks that it matches the published schema and the exit code. */
async function planOf(args: readonly string[]): Promise<Plan> {
	const { code, stdout, stderr } = await plugin(["plan", ...args, ...flags, "-o", "json"]);
	expect(stdout, stderr).toMatch(/^\{/);
	const plan = JSON.parse(stdout) as Plan;
	expect(validate(plan)).toEqual([]);
	expect(code).toBe(plan.exitCode);
	return plan;
}

describeOnFleet("kubectl xpdb plan", () => {
	afterEach(uncordonAll);

	test("foretells the waves that a drain keeps, and writes nothing", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const before = await database.pods();
		// All nodes of the first cluster with pods of the database, and one node of each other cluster.
		const nodes = new Set(
			before
				.filter(({ context, node }) => context === "c1" || node === before.find((pod) => pod.context === context)?.node)
				.map(({ context, node }) => `${context}-operator/${node}`),
		);
		const args = [...nodes, "--contexts", operators(), ownPods(database)];
		const since = Date.now() * 1_000;
		let plan = await planOf(args);
		await eventually("a plan in which all pods are healthy", async () => {
			plan = await planOf(args);
			// Agents may not have counted all pods yet.
			return plan.budgets.some(({ healthy, expected }) => healthy === before.length && expected === before.length);
		});
		const plain = await plugin(["plan", ...args, ...flags]);
		expect(plain.code, plain.stderr).toBe(0);
		expect(plain.stdout).toContain("no lease was taken");
		expect(await leasesOf(database)).toEqual([]);
		expect(await writesSince(since, database)).toEqual([]);

		const planned = plan.pods.filter(({ namespace }) => namespace === database.namespace);
		const onNodes = before.filter(({ context, node }) => nodes.has(`${context}-operator/${node}`));
		expect(planned.map(({ uid }) => uid).toSorted()).toEqual(onNodes.map(({ uid }) => uid).toSorted());
		// The budget allows one disruption at a time, so each pod has its own wave.
		expect(new Set(planned.map(({ wave }) => wave)).size).toBe(planned.length);
		expect(plan).toMatchObject({ possible: true, impossible: [] });

		const startedAt = performance.now();
		const drain = await plugin(["drain", ...args, ...flags, "-y"]);
		const seconds = (performance.now() - startedAt) / 1_000;
		expect(drain.code, drain.stderr).toBe(0);
		// Checks that writesSince() finds the writes of a drain.
		const written = await writesSince(since, database);
		for (const write of [/patch nodes/, /create pods\/eviction/]) {
			expect(written).toContainEqual(expect.stringMatching(write));
		}
		expect(await leasesOf(database)).not.toEqual([]);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
		const gone = (await database.samples()).filter(({ disruption }) => disruption);
		expect(gone.map(({ uid }) => uid).toSorted()).toEqual(planned.map(({ uid }) => uid).toSorted());
		// Within a cluster, the order is the plan's. Between clusters, it is not fixed.
		const order = (context: string) => (each: { readonly uid: string }) =>
			onNodes.some((pod) => pod.uid === each.uid && pod.context === context);
		const nodeOf = ({ uid }: { readonly uid: string }) => onNodes.find((pod) => pod.uid === uid)?.node;
		for (const context of sharedFleet().contexts) {
			expect(gone.filter(order(context)).map(nodeOf)).toEqual(planned.filter(order(context)).map(nodeOf));
		}
		// Loose bounds: kwok's pods end at once, and a busy machine is slow. The bench measures the estimate's precision.
		expect(seconds).toBeGreaterThan(plan.seconds.atLeast / 2);
		expect(plan.seconds.atMost).not.toBeNull();
		expect(seconds).toBeLessThan(3 * (plan.seconds.atMost ?? 0));
	});

	test("says which pods can never go, and why", async () => {
		await using database = await createDatabase({ replicas: 1 });
		const { namespace } = database;
		const others = (
			await getJson<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>(
				"c1",
				"/api/v1/nodes",
			)
		).items
			.map(({ metadata }) => metadata.name)
			.filter((name) => name !== "c1-n0");
		// Leaves only c1-n0 for the new pods.
		await kubectl("c1", ["cordon", ...others]);
		const rows = impossibleWorkloads(namespace);
		await apply(
			["c1"],
			rows.flatMap(({ objects }) => objects),
		);
		await apply(
			["c2", "c3"],
			rows.flatMap(({ objects }) => objects.filter(({ kind }) => kind === "XPodDisruptionBudget")),
		);
		await storeBudgetIn(sharedFleet().contexts, { namespace, name: "broken", spec: { selector: selector("broken") } });
		const names = rows.map(({ app }) => app);
		await eventually("a running pod of each workload on c1-n0", async () => {
			const { items } = await getJson<PodList>(
				"c1",
				podsPath(namespace, { labelSelector: `app in (${names.join(",")})` }),
			);
			const ready = items.filter(({ spec, status }) => spec.nodeName === "c1-n0" && status.phase === "Running");
			return new Set(ready.map(({ metadata }) => metadata.labels["app"])).size === rows.length;
		});
		await kubectl("c1", ["uncordon", ...others]);

		const args = ["c1-n0", "--context", "c1-operator", "--force"];
		let plan = await planOf(args);
		const found = (): Record<string, string> =>
			Object.fromEntries(
				[
					...plan.impossible,
					...plan.pods.map(({ replacement, ...pod }) => ({ ...pod, reason: "Goes", message: "", ...replacement })),
				]
					.filter((pod) => pod.namespace === namespace)
					.map(({ pod, reason, message }) => [pod.replace(/-.*/, ""), `${reason}: ${message}`]),
			);
		await eventually("every agent and controller to have seen all of it", async () => {
			plan = await planOf(args);
			return rows.every(({ app, expected }) => expected.test(found()[app] ?? ""));
		}).catch(() => undefined);
		for (const { app, expected } of rows) expect(found()[app], app).toMatch(expected);
		expect(plan).toMatchObject({ possible: false, exitCode: 3 });

		const careful = await plugin(["plan", ...args, "--ignore-daemonsets"]);
		expect(careful.stdout).toContain(
			`${namespace}/bare on c1-n0: Pods with local storage (use --delete-emptydir-data to override)`,
		);
		const strict = await plugin(["plan", "c1-n0", "--context", "c1-operator", ...flags]);
		expect(strict.code).toBe(3);
		expect(strict.stdout).toContain("Pods that declare no controller (use --force to override)");
		expect(strict.stdout).toContain("Nothing on c1-n0 would be evicted");
		expect(strict.stdout).toMatch(/Not possible: \d+ pods? can never go/);
		await kubectl("c1", ["delete", "pv", `pv-${namespace}`, "--wait=false"]);
	});

	test("takes a budget that is used up only for now for a wait", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		await kubectl("c2", ["annotate", "pod", "db-0", "-n", database.namespace, "bench/ready=false"]);
		let plan: Plan | undefined;
		const waits = () => plan?.pods.find(({ uid }) => uid === pod?.uid)?.waits;
		const expected = `budget ${database.namespace}/db has no disruption left: 2 of 3 healthy, 2 required; used by ${database.namespace}/db-0 in c2: Running, not ready`;
		await eventually("the agents to see all pods, and that one is not ready", async () => {
			plan = await planOf([pod?.node ?? "", "--context", "c1-operator", ownPods(database)]);
			return waits()?.some(({ message }) => message.includes(expected)) ?? false;
		}).catch(() => undefined);
		expect(plan).toMatchObject({ possible: true, seconds: { atMost: null } });
		expect(waits()).toEqual([{ reason: "BudgetExhausted", own: false, message: expect.stringContaining(expected) }]);
	});

	test("bad input ends in clear words", async () => {
		const rows = [
			{ args: ["nope", "--context", "c1-operator"], code: 1, text: /nodes "nope" not found/ },
			{ args: ["nope", "--contexts", operators()], code: 1, text: /"nope" not found in any of the contexts/ },
			{ args: ["c1-n0", "--context", "c9"], code: 1, text: /context "c9" does not exist/ },
			{ args: ["c1-n0", "--ignore-daemonset"], code: 1, text: /unknown flag.*\nDid you mean --ignore-daemonsets/ },
			{ args: ["c1-n0", "--context", "c1-operator", "--order-by", "a b"], code: 1, text: /--order-by must be/ },
			{
				args: ["c1-n0", "--context", "c1-operator", "-o", "xml"],
				code: 1,
				text: /allowed formats are: json,wide,yaml/,
			},
			{ args: [], code: 1, text: /USAGE: plan NODE/ },
		];
		for (const { args, code, text } of rows) {
			const result = await plugin(["plan", ...args]);
			expect(result.stderr).toMatch(text);
			expect([result.code, result.stdout]).toEqual([code, ""]);
		}
		const { dir, kubeconfigPath } = sharedFleet();
		const pipe = spawn(
			"bash",
			[
				"-c",
				`"$0" plan c1-n0 --context c1-operator --pod-selector=app=none ${flags.join(" ")} | head -1; exit "\${PIPESTATUS[0]}"`,
				join(dir, "bin", "kubectl-xpdb"),
			],
			{ env: { ...process.env, KUBECONFIG: kubeconfigPath }, stdio: ["ignore", "ignore", "pipe"] },
		);
		let stderr = "";
		pipe.stderr.setEncoding("utf8").on("data", (text: string) => {
			stderr += text;
		});
		expect(await new Promise((resolve) => pipe.once("close", resolve))).toBe(0);
		expect(stderr).toBe("");
	});
});

interface PodList {
	readonly items: readonly {
		readonly metadata: { readonly labels: Readonly<Record<string, string>> };
		readonly spec: { readonly nodeName?: string };
		readonly status: { readonly phase?: string };
	}[];
}

interface Workload {
	readonly app: string;
	readonly objects: readonly { readonly kind: string }[];
	/** Matches "Reason: message". */
	readonly expected: RegExp;
}

const selector = (app: string) => ({ matchLabels: { app } });

/** Returns workloads whose pods can never go, or whose replacements find no node, for different reasons. */
function impossibleWorkloads(namespace: string): readonly Workload[] {
	const container = { name: "main", image: "example.com/main:1" };
	const deployment = (app: string, spec: object = {}) => ({
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: { name: app, namespace },
		spec: {
			selector: selector(app),
			template: { metadata: { labels: { app } }, spec: { containers: [container], ...spec } },
		},
	});
	const budget = (app: string, spec: object) => ({
		apiVersion: "x-pdb.form3.tech/v1alpha1",
		kind: "XPodDisruptionBudget",
		metadata: { name: app, namespace },
		spec: { selector: selector(app), ...spec },
	});
	const own = (name: string, app: string, spec: object) => ({
		apiVersion: "policy/v1",
		kind: "PodDisruptionBudget",
		metadata: { name, namespace },
		spec: { selector: selector(app), ...spec },
	});
	const hostname = (values: readonly string[]) => ({
		nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values }] }],
	});
	const volume = `pv-${namespace}`;
	const storage = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "" };
	return [
		{
			app: "zero",
			objects: [deployment("zero"), budget("zero", { maxUnavailable: 0 })],
			expected: /^BudgetNeverMet: budget \S+\/zero with maxUnavailable 0 needs 1 healthy of 1 expected pods/,
		},
		{
			app: "all",
			objects: [deployment("all"), budget("all", { minAvailable: "100%" })],
			expected: /^BudgetNeverMet: .*minAvailable 100% needs 1 healthy of 1/,
		},
		{
			app: "job",
			objects: [
				{
					apiVersion: "batch/v1",
					kind: "Job",
					metadata: { name: "job", namespace },
					spec: {
						template: {
							metadata: { labels: { app: "job" } },
							spec: { containers: [container], restartPolicy: "Never" },
						},
					},
				},
				budget("job", { maxUnavailable: 1 }),
			],
			expected: /^ExpectedPodsUnknown: .*Job "job", which has no scale/,
		},
		{
			app: "broken",
			// Its budget is stored without the CRD's validation.
			objects: [deployment("broken")],
			expected: /^InvalidBudget: .*neither spec\.minAvailable nor spec\.maxUnavailable/,
		},
		{
			app: "pinned",
			objects: [
				{
					apiVersion: "v1",
					kind: "PersistentVolume",
					metadata: { name: volume },
					spec: {
						...storage,
						claimRef: { namespace, name: "data" },
						local: { path: "/data" },
						nodeAffinity: { required: hostname(["c1-n0"]) },
					},
				},
				{
					apiVersion: "v1",
					kind: "PersistentVolumeClaim",
					// No controller binds claims here. This annotation marks the claim as bound for the scheduler.
					metadata: { name: "data", namespace, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
					spec: {
						accessModes: storage.accessModes,
						storageClassName: "",
						volumeName: volume,
						resources: { requests: storage.capacity },
					},
				},
				deployment("pinned", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] }),
			],
			expected: /^NoOtherNode: .*volume data \(PersistentVolume pv-\S+\) can be reached from c1-n0 only/,
		},
		{
			app: "selected",
			objects: [deployment("selected", { nodeSelector: { "kubernetes.io/hostname": "c1-n0" } })],
			expected: /^NoOtherNode: .*node selector or node affinity/,
		},
		{
			app: "kept",
			objects: [deployment("kept"), own("kept", "kept", { maxUnavailable: 0 })],
			expected: /^BudgetNeverMet: budget \S+\/kept \(PodDisruptionBudget\) with maxUnavailable 0/,
		},
		{
			app: "twice",
			objects: [
				deployment("twice"),
				own("twice-a", "twice", { maxUnavailable: 1 }),
				own("twice-b", "twice", { maxUnavailable: 1 }),
			],
			expected: /^MultipleBudgets: it has 2 PodDisruptionBudgets/,
		},
		{
			app: "bare",
			objects: [
				{
					apiVersion: "v1",
					kind: "Pod",
					metadata: { name: "bare", namespace, labels: { app: "bare" } },
					spec: { containers: [container], volumes: [{ name: "scratch", emptyDir: {} }] },
				},
				budget("bare", { minAvailable: 1 }),
			],
			expected: /^BudgetNeverMet: .*minAvailable 1 needs 1 healthy of 1/,
		},
	] as readonly Workload[];
}
