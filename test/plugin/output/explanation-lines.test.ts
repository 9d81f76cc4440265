// Tests what users read at 80 columns, and that the JSON matches the schema.
import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { explanationDocument } from "../../../plugin/output/explanation-document.ts";
import { explanationLines } from "../../../plugin/output/explanation-lines.ts";
import { helpfulCommands } from "../../../plugin/output/helpful-commands.ts";
import type { Explanation } from "../../../plugin/plan/explain/explanation.ts";
import { createValidator, readSchema, strictSchema } from "../../support/json-schema.ts";
import { ExplainedFleet, wallClock } from "../explain/explained-fleet.ts";
import { newNativeBudget } from "../explain/native-budget.ts";

const columns = 80;
const suggest = new SuggestedCommands(readGlobalFlags({ contexts: ["eu", "us"] }));
const help = { context: "eu", suggest, drainFlags: [] };
const validate = createValidator(strictSchema("explain-v1"));

/** Returns the lines as on a terminal. Also checks the JSON document against the schema. */
function screen(explanation: Explanation, wide = false): string {
	const commands = helpfulCommands(explanation, help);
	expect(validate(JSON.parse(JSON.stringify(explanationDocument(explanation, commands))))).toEqual([]);
	const lines = explanationLines(explanation, { columns, now: wallClock, wide, commands });
	// Commands are not cut, so that they can be copied.
	const long = lines.filter((line) => line.length > columns && !line.startsWith("  kubectl "));
	expect(long).toEqual([]);
	const text = lines.join("\n");
	// oxlint-disable-next-line no-control-regex -- ASCII is what is meant
	expect(text).toMatch(/^[\x20-\x7e\n]*$/);
	return text;
}

/** Returns a fleet whose budget is used up by a pod in us that no node takes. */
function usedUp(): ExplainedFleet {
	const world = new ExplainedFleet({ maxUnavailable: 1 });
	world.pod("us", "db-1").healthy = false;
	world.distortions.set("us", (count) => ({
		...count,
		unavailable: count.unavailable.map((pod) => ({
			...pod,
			state: "Pending",
			sinceSeconds: wallClock / 1_000 - 540,
			message: "0/3 nodes are available: 3 node(s) were unschedulable.",
		})),
	}));
	return world;
}

describe("explanationLines()", () => {
	test("says yes, and with which command", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		expect(`\n${screen(await world.explain("eu/pod/db-0"))}\n`).toBe(`
Yes: pod shop/db-0 can be evicted now.

It is Running on node eu-n0 of eu, of StatefulSet/db.

Budget shop/db (maxUnavailable 1): 4 of 4 healthy, 3 required, 1 can be evicted.
  Healthy of expected: eu 2/2, us 2/2

Evict it:
  kubectl xpdb evict db-0 -n shop --context eu
`);
	});

	test("says that a pod is not there, where that uses a budget up", async () => {
		const world = usedUp();
		world.distortions.set("us", (count) => ({ ...count, unavailable: [] }));
		expect(screen(await world.explain("eu/pod/db-0"))).toContain(`
  Used up by:
    us: 1 pod missing; its controller wants it, and it is not there: frees when
      it is made and ready
`);
	});

	test("says that no controller replaces a pod that ends, and that a scaled-down one needs no replacement", async () => {
		const world = usedUp();
		const ending = (name: string) => ({ namespace: "shop", name, why: "Terminating", state: "Terminating" }) as const;
		world.fleet.member("us").addPod("alone");
		world.distortions.set("us", (count) => ({
			...count,
			healthy: 1,
			expected: { kind: "known", pods: 2 },
			unavailable: [ending("alone")],
		}));
		const isStatic = { annotations: { "kubernetes.io/config.mirror": "checksum" } };
		for (const fields of [{ unmanaged: true } as const, isStatic]) {
			world.fields.set("alone", fields);
			const bare = await world.explain("budget/db");
			expect(screen(bare)).toContain("us: Terminating; no controller replaces it when it is gone");
			expect(explanationDocument(bare, [])).toMatchObject({
				budgets: [{ usedBy: [{ pod: "shop/alone", replacement: "none" }] }],
			});
		}
		world.distortions.set("us", (count) => ({
			...count,
			healthy: 2,
			expected: { kind: "known", pods: 2 },
			unavailable: [ending("db-9")],
		}));
		expect(screen(await world.explain("budget/db")).replaceAll(/\s+/g, " ")).toContain(
			"shop/db-9 in us: Terminating; when it is gone, no other pod has to become ready",
		);
	});

	test("says of mislabelled pods that labels free the budget, and not that others will be made", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		const workload = { kind: "StatefulSet", namespace: "shop", name: "db", wants: 2, others: 1 };
		world.distortions.set("us", (count) => ({
			...count,
			healthy: 1,
			expected: { kind: "known", pods: 2 },
			mislabelled: [workload],
		}));
		const found = await world.explain("budget/db");
		const text = screen(found).replaceAll(/\s+/g, " ");
		expect(text).toContain(
			"us: 1 pod with other labels; the budget expects it and does not select it: " +
				"frees when it has the labels of the pod template",
		);
		expect(text).not.toContain("missing");
		expect(explanationDocument(found, [])).toMatchObject({
			budgets: [{ clusters: [{ name: "eu" }, { name: "us", mislabelled: 1 }] }],
		});
	});

	test("shows a budget in a cluster that has it", async () => {
		const world = new ExplainedFleet();
		const db = { namespace: "shop", name: "db" };
		const spec = { selector: { matchLabels: { app: "db" } }, maxUnavailable: 0 };
		world.fleet.member("us").ownBudgets.push({ name: db, spec });
		for (const words of ["budget/db", "eu/pod/db-0"]) {
			expect(screen(await world.explain(words))).toContain("\n  kubectl get xpdb db -n shop -o yaml --context us");
		}
		world.fleet.member("us").ownBudgets.splice(0, 1, { name: db, spec: { ...spec, maxUnavailable: "many" } });
		for (const words of ["budget/db", "eu/pod/db-0"]) {
			expect(screen(await world.explain(words))).toContain("\n  kubectl get xpdb -n shop -o yaml --context us");
		}
	});

	test("says with the command that has --force which pods nothing recreates", async () => {
		const world = new ExplainedFleet();
		world.fields.set("db-1", { unmanaged: true });
		expect(screen(await world.explain("eu/node/eu-n0"))).toContain(
			"\nDrain it; --force takes pods that nothing recreates (shop/db-1):\n" +
				"  kubectl xpdb drain eu-n0 --force --context eu",
		);
		expect(screen(await world.explain("eu/pod/db-1"))).toContain(
			"With --force a drain takes it, and nothing recreates it.",
		);
	});

	test("says who uses a budget up, since when, when that ends, and how to look at it", async () => {
		expect(`\n${screen(await usedUp().explain("eu/pod/db-0"))}\n`).toBe(`
Not now: pod shop/db-0 has to wait.
  budget shop/db has no disruption left: 3 of 4 healthy, 3 required

It is Running on node eu-n0 of eu, of StatefulSet/db.

Budget shop/db (maxUnavailable 1): 3 of 4 healthy, 3 required, 0 can be evicted.
  Healthy of expected: eu 2/2, us 1/2
  Used up by:
    shop/db-1 in us: Pending 9m; frees when Ready; no node takes it: 0/3 nodes
      are available: 3 node(s) were unschedulable.

Why shop/db-1 is not ready:
  kubectl describe pod db-1 -n shop --context us
Evict it as soon as the budget allows it:
  kubectl xpdb evict db-0 -n shop --context eu
`);
	});

	test("says of a budget what it waits for", async () => {
		expect(screen(await usedUp().explain("budget", "db"))).toContain(
			"Not now: budget shop/db is used up.\n  budget shop/db has no disruption left: 3 of 4 healthy, 3 required\n\nBudget shop/db",
		);
	});

	test("groups the pods of a node, worst first, with the flags that its drain needs", async () => {
		const world = usedUp();
		world.fleet.member("eu").addPod("cache-0", { labels: { app: "cache" } });
		world.fleet.member("eu").addPod("proxy-x", { labels: { app: "proxy" } });
		world.fleet.member("eu").addPod("web-0", { labels: { app: "web" } });
		world.fleet.member("eu").expected = 2;
		world.fields.set("cache-0", { emptyDir: true });
		world.fields.set("proxy-x", { owner: { kind: "DaemonSet", name: "proxy" } });
		expect(`\n${screen(await world.explain("eu/node/eu-n0"))}\n`).toBe(`
No: 3 of the 4 pods of node eu-n0 block the drain, 1 of them until someone
    intervenes.

Blocked until someone intervenes:
  Pods with local storage (use --delete-emptydir-data to override):
    shop/cache-0
Must wait:
  budget shop/db has no disruption left: 3 of 4 healthy, 3 required; used by
    shop/db-1 in us: Pending 9m:
    shop/db-0, shop/db-1
Can be evicted now:
  shop/web-0
Skipped by a drain:
  its DaemonSet would put it back at once:
    shop/proxy-x

Budget shop/db (maxUnavailable 1): 3 of 4 healthy, 3 required, 0 can be evicted.
  Healthy of expected: eu 2/2, us 1/2
  Used up by:
    shop/db-1 in us: Pending 9m; frees when Ready; no node takes it: 0/3 nodes
      are available: 3 node(s) were unschedulable.

Why shop/db-1 is not ready:
  kubectl describe pod db-1 -n shop --context us
All of it in order, and how long:
  kubectl xpdb plan eu-n0 --delete-emptydir-data --ignore-daemonsets --context eu
Drain it:
  kubectl xpdb drain eu-n0 --delete-emptydir-data --ignore-daemonsets --context eu
`);
	});

	test("says which pods of a node go one after the other", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		const text = screen(await world.explain("eu/node/eu-n0"));
		expect(text).toContain("Yes: node eu-n0 can be drained now, 2 pods go, 1 of them one after the other.\n");
		expect(text).toContain(
			"Go one after the other:\n  as budget shop/db has room again:\n    shop/db-1\nCan be evicted now:\n  shop/db-0\n",
		);
	});

	test("has all flags that a drain needs for a pod, and names a budget of one cluster as one", async () => {
		const world = new ExplainedFleet();
		world.fleet.member("eu").addPod("bare", { labels: { app: "bare" } });
		world.fields.set("bare", { emptyDir: true, unmanaged: true });
		world.native = [newNativeBudget({ expectedPods: 2, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 })];
		const text = screen(await world.explain("eu/node/eu-n0"));
		expect(text).toContain("kubectl xpdb drain eu-n0 --delete-emptydir-data --force --context eu");
		expect(text).toContain("as budget shop/db (PodDisruptionBudget) has room again:\n    shop/db-1\n");
	});

	test("drains a node with the flags that it was asked about with", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		const explanation = await world.explain("eu/node/eu-n0");
		const commands = helpfulCommands(explanation, { ...help, drainFlags: ["--force"] });
		expect(commands.map(({ command }) => command)).toContain("kubectl xpdb drain eu-n0 --force --context eu");
	});

	test("names the PodDisruptionBudgets of a pod that has several, and the command that shows them", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		const native = newNativeBudget({ expectedPods: 3, currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1 });
		world.native = [native, { ...native, metadata: { ...native.metadata, name: "db-strict" } }];
		const text = screen(await world.explain("eu/pod/db-0"));
		expect(text.replaceAll(/\s+/g, " ")).toContain("2 PodDisruptionBudgets (db, db-strict)");
		expect(text).toContain("kubectl get poddisruptionbudgets -n shop --context eu");
	});

	test("says who suspended a budget", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0, suspend: true });
		expect(screen(await world.explain("budget/db"))).toContain(
			"Yes: budget shop/db allows an eviction now.\n\nBudget shop/db (maxUnavailable 0): 4 healthy, none required.\n",
		);
	});

	test("says who holds a Lease of the budget and who waits, and nothing for agents that cannot", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		const budget = { namespace: "shop", name: "db" };
		const lease = { name: "l", uid: "u", transitions: 1, reservations: [], reserved: 0, budget, waiting: 0 };
		const holding = { holder: "bob@desk drain 7f3c2a", heldForMs: 2_100, expiresInMs: 9_000 };
		world.leases = {
			eu: [
				{ ...lease, holding, waiting: 1 },
				{ ...lease, holding: { ...holding, expiresInMs: 0 } },
			],
			us: new AgentUnavailableError("silent", "us"),
		};
		for (const words of ["eu/pod/db-0", "budget/db"]) {
			const text = screen(await world.explain(words));
			expect(text).toContain("  Its Lease in eu: held by bob@desk drain 7f3c2a for 2s, 1 waits for it");
			expect(text.match(/Lease/g)).toHaveLength(1);
		}
	});

	test("says that what nobody knows counts as nothing", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.problems = ["us: cannot reach cluster us: its agent gives no answer"];
		world.silent.add("us");
		expect(`\n${screen(await world.explain("eu/pod/db-0"))}\n`).toBe(`
Unknown (treated as no): cannot tell whether pod shop/db-0 can be evicted.
  what its budgets allow is not known while members give no answer, and counts
    as nothing

No answer:
  us: cannot reach cluster us: its agent gives no answer

It is Running on node eu-n0 of eu, of StatefulSet/db.

Budget shop/db (maxUnavailable 1): ? of ? healthy, ? required, unknown how many
    can be evicted.
  Healthy of expected: eu 2/2, us ?

See which clusters answer:
  kubectl xpdb version --contexts=eu,us
`);
	});

	test("names every pod of a node where that is asked for", async () => {
		const world = new ExplainedFleet();
		const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
		for (const name of names) world.fleet.member("eu").addPod(name, { labels: { app: "web" } });
		const found = await world.explain("eu/node/eu-n0");
		expect(screen(found)).toContain("and 6 more");
		expect(screen(found, true)).toContain("shop/web-11");
	});
});

test("the budgets in the schema of explain are those of the schema of budgets: each is whole for its readers", () => {
	const itemOf = (name: string, list: string) =>
		(readSchema(name)["properties"] as Record<string, { readonly items: unknown }>)[list]?.items;
	expect(itemOf("explain-v1", "budgets")).toBeDefined();
	expect(itemOf("explain-v1", "budgets")).toEqual(itemOf("budgets-v1", "items"));
});
