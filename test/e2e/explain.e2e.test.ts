// Tests `kubectl xpdb explain` on real clusters, with an operator's rights.
import { afterEach, expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { agentNames, fleetControl, recoverAgents } from "./agents.ts";
import { createDatabase, type Database } from "./database.ts";
import { apply, eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { type PluginResult, plugin } from "./plugin-process.ts";
import { leasesOf, writesSince } from "./writes-since.ts";

interface Documented {
	readonly verdict: string;
	readonly mayGoNow: boolean;
	readonly exitCode: number;
	readonly reasons: readonly { readonly reason: string; readonly message: string }[];
	readonly pods: readonly {
		readonly namespace: string;
		readonly pod: string;
		readonly node: string;
		readonly verdict: string;
		readonly drain: string;
	}[];
	readonly budgets: readonly { readonly name: string; readonly allowed: number | null }[];
	readonly commands: readonly { readonly command: string }[];
}

const everywhere = ["--contexts", "c1-operator,c2-operator,c3-operator"];
const here = ["--context", "c1-operator"];
const validate = createValidator(strictSchema("explain-v1"));

/** Returns the -o json document. Checks that it matches the published schema and the exit code. */
async function explained(...args: readonly string[]): Promise<Documented> {
	const { code, stdout, stderr } = await plugin(["explain", ...args, "-o", "json"]);
	expect(stdout, stderr).toMatch(/^\{/);
	const document = JSON.parse(stdout) as Documented;
	expect(validate(document)).toEqual([]);
	expect(document.exitCode).toBe(code);
	expect(document.mayGoNow).toBe(code === 0);
	return document;
}

/** Retries until the verdict matches, because agents see changes a moment later. `why` must be one of the messages. */
async function eventuallySays(verdict: string, args: readonly string[], why?: string): Promise<Documented> {
	let last: Documented | undefined;
	await eventually(`explain ${args.join(" ")} to say ${verdict} ${why ?? ""}`, async () => {
		last = await explained(...args);
		return last.verdict === verdict && (why === undefined || last.reasons.some(({ message }) => message === why));
	});
	if (!last) throw new Error("nothing was explained");
	return last;
}

const inNamespace = ({ namespace }: Database): readonly string[] => ["-n", namespace];

function expectNoYes({ code, stdout }: PluginResult): void {
	expect(code).not.toBe(0);
	expect(stdout).not.toMatch(/^Yes/);
	expect(stdout).not.toContain("mayGoNow: true");
}

describeOnFleet("kubectl xpdb explain", () => {
	afterEach(uncordonAll);

	test("says yes of what may go, with the numbers of all clusters, and writes nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const args = inNamespace(database);
		const [pod] = await database.pods();
		const since = Date.now() * 1_000;
		const found = await eventuallySays("MayGo", ["c1-operator/pod/db-0", ...args, ...everywhere]);
		expect(found).toMatchObject({
			reasons: [],
			budgets: [{ name: "db", allowed: 1, healthy: 3, need: 2, expected: 3 }],
		});
		expect(found.commands).toMatchObject([
			{ command: `kubectl xpdb evict db-0 -n ${database.namespace} --context c1-operator` },
		]);
		expect(await explained("budget", "db", ...args, ...everywhere)).toMatchObject({ verdict: "MayGo" });
		const node = await explained(`node/${pod?.node}`, "--ignore-daemonsets", ...here);
		expect(node.pods).toContainEqual(
			expect.objectContaining({ namespace: database.namespace, pod: "db-0", verdict: "MayGo", drain: "takes" }),
		);
		const plain = await plugin(["explain", "pod", "db-0", ...args, ...here]);
		expect(plain, plain.stderr).toMatchObject({ code: 0, stderr: "" });
		expect(plain.stdout).toMatch(new RegExp(`^Yes: pod ${database.namespace}/db-0 can be evicted now\\.\n`));
		expect(await leasesOf(database)).toEqual([]);
		expect(await writesSince(since, database)).toEqual([]);
	});

	test("names who uses a budget up, in which cluster, and what keeps a budget for ever", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const args = inNamespace(database);
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		await kubectl("c2", ["annotate", "pod", "db-0", ...args, "bench/ready=false"]);
		const message = `budget ${database.namespace}/db has no disruption left: 2 of 3 healthy, 2 required`;
		const found = await eventuallySays("Waits", ["pod/db-0", ...args, ...here], message);
		expect(found).toMatchObject({
			exitCode: 5,
			reasons: [{ reason: "BudgetExhausted", message, usedBy: [{ cluster: "c2", pod: `${database.namespace}/db-0` }] }],
		});
		expect(await explained("budget/db", ...args, ...here)).toMatchObject({ verdict: "Waits", reasons: [{ message }] });
		const plain = await plugin(["explain", "c1-operator/pod/db-0", ...args, ...everywhere]);
		expect(plain.code).toBe(5);
		expect(plain.stdout).toMatch(/^Not now: /);
		expect(plain.stdout).toContain("  Healthy of expected: c1 1/1, c2 0/1, c3 1/1\n");
		expect(plain.stdout).toContain(`    ${database.namespace}/db-0 in c2: Running, not ready`);
		expect(plain.stdout).toContain(`  kubectl describe pod db-0 -n ${database.namespace} --context c2-operator\n`);
		const node = await explained(
			`node/${pod?.node}`,
			"--ignore-daemonsets",
			"--delete-emptydir-data",
			"--force",
			...here,
		);
		expect(node.reasons).toContainEqual(expect.objectContaining({ message }));
		await using never = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 }, contexts: ["c1"] });
		expect(await eventuallySays("Refused", ["pod/db-0", ...inNamespace(never), ...here])).toMatchObject({
			exitCode: 3,
			reasons: [{ reason: "BudgetNeverMet" }],
		});
	});

	test("tells pods that no budget covers, of DaemonSets, and under a PodDisruptionBudget apart", async () => {
		await using database = await createDatabase({ replicas: 1, contexts: ["c1"] });
		const { namespace } = database;
		const args = inNamespace(database);
		const labels = { app: "log" };
		const template = { metadata: { labels }, spec: { containers: [{ name: "log", image: "example.com/log:1" }] } };
		await apply(
			["c1"],
			[
				{
					apiVersion: "apps/v1",
					kind: "DaemonSet",
					metadata: { name: "log", namespace },
					spec: { selector: { matchLabels: labels }, template },
				},
			],
		);
		const [pod] = await database.pods();
		expect(await explained("pod/db-0", ...args, ...here)).toMatchObject({ verdict: "MayGo", budgets: [] });
		let log = "";
		await eventually("the pod of the DaemonSet", async () => {
			const list = await kubectl("c1", [
				"get",
				"pods",
				...args,
				"-l",
				"app=log",
				"--field-selector",
				`spec.nodeName=${pod?.node},status.phase=Running`,
				"-o",
				"name",
			]);
			log = list.trim();
			return log !== "";
		});
		const kept = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)";
		expect((await explained(log, ...args, ...here)).pods).toMatchObject([
			{ verdict: "MayGo", drain: "refuses", drainMessage: kept },
		]);
		const drain = await explained(`node/${pod?.node}`, ...here);
		expect(drain).toMatchObject({ verdict: "Refused", exitCode: 3 });
		expect(drain.reasons).toContainEqual(expect.objectContaining({ reason: "PodsNotAllowed", message: kept }));
		expect(drain.commands.at(-1)?.command).toContain("--ignore-daemonsets");
		const spec = { maxUnavailable: 0, selector: { matchLabels: { app: "db" } } };
		await apply(
			["c1"],
			[{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "own", namespace }, spec }],
		);
		const own = await eventuallySays("Refused", ["pod/db-0", ...args, ...here]);
		expect(own.reasons[0]?.message).toMatch(new RegExp(`^PodDisruptionBudget ${namespace}/own `));
	});

	test("never says yes while a member is silent, or to somebody without rights", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		const args = inNamespace(database);
		await eventuallySays("MayGo", ["pod/db-0", ...args, ...here]);
		const role = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" };
		await apply(
			["c1"],
			[
				{
					apiVersion: "rbac.authorization.k8s.io/v1",
					kind: "Role",
					metadata: { name: "reader", namespace },
					rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
				},
				{
					apiVersion: "rbac.authorization.k8s.io/v1",
					kind: "RoleBinding",
					metadata: { name: "reader", namespace },
					roleRef: role,
					subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: `reader-${namespace}` }],
				},
			],
		);
		const reader = ["--context", "c1", "--as", `reader-${namespace}`];
		for (const words of [["pod/db-0"], ["budget/db"], ["node/c1-n0"]]) {
			expectNoYes(await plugin(["explain", ...words, ...args, ...reader]));
		}
		try {
			for (const name of await agentNames("c3")) await fleetControl().freezeAgent("c3", name);
			for (const words of [["pod/db-0"], ["budget/db"]]) {
				const found = await explained(...words, ...args, ...here);
				expect(found).toMatchObject({ verdict: "Unknown", exitCode: 4, budgets: [{ name: "db", allowed: null }] });
				expect(found.reasons).toContainEqual(expect.objectContaining({ reason: "PeerUnreachable" }));
			}
			const plain = await plugin(["explain", "c1-operator/pod/db-0", ...args, ...everywhere]);
			expectNoYes(plain);
			expect(plain.stdout).toMatch(/^Unknown \(treated as no\): /);
			expect(plain.stdout).toContain("c1 1/1");
			expect(plain.stdout).toContain("c3 ?");
		} finally {
			await recoverAgents();
		}
		await eventuallySays("MayGo", ["pod/db-0", ...args, ...here]);
	});

	test("suggests what was meant, and refuses bad input in clear words", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const args = inNamespace(database);
		const rows: readonly (readonly [words: readonly string[], says: string | RegExp])[] = [
			[["pod/db-1", ...args, ...here], /pods "db-1" not found\nDid you mean pod\/db-0 -n db-/],
			[["pod/db-0", ...args, ...everywhere], /is in more than one context: .*\nWrite c1-operator\/pod\/db-0 or /],
			[["pod/db-1", ...args, ...everywhere], /"db-1" not found in any of the contexts .*\nDid you mean pod\/db-0 /],
			[["budget/bd", ...args, ...here], /"bd" not found\nDid you mean budget\/db -n /],
			[["node/c1-n00", ...here], /nodes "c1-n00" not found\nDid you mean node\/c1-n0\?/],
			[["pood/db-0", ...here], /"pood" is neither pod, budget nor node\nDid you mean pod\//],
			[["db-0", ...here], /is "db-0" a pod, a budget or a node\?\nWrite pod\/NAME/],
			[["pod", ...here], /which pod\?\nWrite pod\/NAME/],
			[["pod", "a", "b", ...here], /one thing at a time can be explained, these are 2\n/],
			[[""], /resource name may not be empty\n/],
			[["pod", "", ...here], /resource name may not be empty\n/],
			[["pod/", ...here], /must have a single resource and name\n/],
			[["pod/a/b", ...here], /may not have more than one slash\n/],
			[["pod/..", ...here], /may not be '\.\.'/],
			[["pod/db-0", "-n", "", ...here], /not found|namespace may not be empty/],
			[[], /what should be explained\?\n/],
			[["pod/db-0", "-o", "xml", ...here], /allowed formats are: json,wide,yaml\n/],
		];
		for (const [words, says] of rows) {
			const { code, stdout, stderr } = await plugin(["explain", ...words]);
			expect({ code, stdout }, words.join(" ")).toEqual({ code: 1, stdout: "" });
			expect(stderr).toMatch(says);
		}
	});
});
