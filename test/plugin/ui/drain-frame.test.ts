import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { selectableRows } from "../../../plugin/ui/drain-frame.ts";
import { asciiGlyphs, unicodeGlyphs } from "../../../plugin/ui/glyphs.ts";
import { RunFacts } from "../../../plugin/ui/run-facts.ts";
import { widthOf } from "../../../plugin/ui/styled-line.ts";
import type { Pane, ViewState } from "../../../plugin/ui/view-state.ts";
import { drawFrame as frame, type Look } from "./draw-frame.ts";
import { sampleFacts, startedAt } from "./sample-run.ts";

const text = (look: Look): string => `\n${frame(look).join("\n")}\n`;
const waiting = "pod prod-us payments/api-7c9d4-kk2lm prod-us-api-7c9d4-kk2lm";

test("the signs of a frame take one column each", () => {
	for (const glyph of [...Object.values(unicodeGlyphs), ...Object.values(asciiGlyphs)].flat()) {
		expect(stringWidth(glyph), glyph).toBe(1);
		expect(widthOf(glyph), glyph).toBe(1);
	}
});

describe("drainFrame()", () => {
	const panes: readonly Pane[] = ["details", "explain", "budgets", "warnings", "help"];

	test("counts no pods before it has read which there are", () => {
		const facts = new RunFacts();
		const nodes = [{ context: "prod-eu", node: "node-eu-01" }];
		facts.see({ type: "run.started", members: [], nodes, pods: [], dryRun: "none" }, startedAt);
		const totals = () => frame({ columns: 80, rows: 24, facts })[1];
		expect(totals()).toMatch(/ reading the pods$/);
		const numbers = { nodes: 1, pods: 0, waits: 0, impossible: 0 };
		facts.see({ type: "plan", ...numbers, perNode: [], etaSeconds: [0, 0] }, startedAt + 500);
		expect(totals()).toMatch(/ 0\/0 pods +0 terminating/);
	});

	test("knows no budget while a member gives no answer, and says what keeps everything waiting", () => {
		const facts = sampleFacts();
		const at = startedAt + 161_000;
		facts.see({ type: "cluster.unreachable", cluster: "prod-ap", message: "no connection", elapsedMs: 4_000 }, at);
		const lines = frame({ columns: 100, rows: 30, facts });
		expect(lines.find((line) => line.includes("payments/api  "))).toMatch(
			/ \? of 2 +\?\/18 .*prod-ap gives no answer$/,
		);
		expect(lines[0]).toMatch(/ 4 min or more left/);
		const wide = frame({ columns: 140, rows: 40, facts });
		expect(wide.find((line) => line.includes("payments/api  "))).toMatch(/>= 16 +\? +\? +\? +prod-ap gives no answer$/);
		const waits = (all: readonly string[]) => all.find((line) => line.includes("1st for payments/api: "));
		expect(waits(lines)).toMatch(/1st for payments\/api: prod-ap gives no answer$/);
		expect(waits(frame({ columns: 100, rows: 30, facts: sampleFacts() }))).toMatch(/16 healthy, 16 required$/);
		const explained = frame({
			columns: 140,
			rows: 40,
			facts,
			view: { pane: "explain", selected: "budget payments/api" },
		});
		expect(explained.join("\n")).toMatch(
			/Cluster prod-ap gives no answer .*no connection\n See: kubectl get pods -n xpdb-system .* --context prod-ap\n Budget payments\/api: unknown \(treated as 0 left\): prod-ap gives no answer; before: 16 of 18 pods have to stay healthy, 16 were/,
		);
		facts.see({ type: "cluster.recovered", cluster: "prod-ap", elapsedMs: 9_000 }, at + 5_000);
		expect(frame({ columns: 100, rows: 30, facts }).find((line) => line.includes("payments/api  "))).toMatch(
			/ 0 of 2 +16\/18 /,
		);
	});

	test("shows what a budget comes to minutes after the last round, and why nobody knows it", () => {
		const facts = sampleFacts();
		const at = startedAt + 161_000;
		const pod = { context: "prod-eu", node: "node-eu-07", namespace: "payments", pod: "api-7c9d4-x2xqz" };
		const gone = { ...pod, uid: "prod-eu-api-7c9d4-x2xqz", deletes: false, elapsedMs: 9_000 };
		facts.see({ type: "pod.evicted", ...gone }, at);
		const counted = { type: "budget.changed", budget: "payments/api", need: 16, expected: 18, clusters: [] } as const;
		const pending = { cluster: "prod-eu", namespace: "payments", pod: "api-7c9d4-new", why: "NotReady" };
		const usedBy = [{ ...pending, state: "Pending", message: "0/3 nodes", sinceSeconds: at / 1_000 }];
		const look = (view: Partial<ViewState> = {}) => frame({ columns: 100, rows: 30, facts, view, second: 250 });
		const row = () => look().find((line) => line.includes("payments/api  "));
		facts.see({ ...counted, healthy: 17, left: 1, usedBy }, at + 1_000);
		expect(row()).toMatch(/payments\/api +1 of 2 +17\/18 .*prod-eu\/api-7c9d4-new Pending 1m29s$/);
		const page = { pane: "explain", selected: "budget payments/api" } as const;
		expect(look(page).join("\n")).toContain("Pending for 1m29s; frees when Ready");
		expect(look(page).join("\n")).not.toMatch(/gone|nobody has counted/);
		facts.see({ ...counted, healthy: 18, left: 2, usedBy: [] }, at + 20_000);
		expect(row()).toMatch(/payments\/api +2 of 2 +18\/18 .* -$/);
		facts.see({ type: "budget.unknown", budget: "payments/api", message: "prod-ap: no answer" }, at + 21_000);
		expect(row()).toMatch(/payments\/api +\? of 2 +\?\/18 .*prod-ap: no answer$/);
		expect(look(page).join("\n")).toContain("unknown (treated as 0 left): prod-ap: no answer");
	});

	test("says of pods that were named, by their cluster, what becomes of them", () => {
		const facts = new RunFacts();
		const pod = (context: string) => ({ context, namespace: "shop", pod: "db-0", uid: context });
		const contexts = ["eu", "us", "ap"];
		const members = contexts.map((cluster) => ({ cluster, context: cluster, version: "0.1.0" }));
		facts.see({ type: "run.started", members, nodes: [], pods: contexts.map(pod), dryRun: "none" }, startedAt);
		for (const context of contexts) {
			const asked = { dryRun: "none", deletes: false, budgets: ["shop/db"], attempt: 1 } as const;
			facts.see({ type: "pod.evicting", ...pod(context), ...asked }, startedAt);
		}
		facts.see({ type: "pod.accepted", ...pod("eu"), waitedMs: 0, graceSeconds: 30 }, startedAt);
		facts.see({ type: "pod.evicted", ...pod("eu"), deletes: false, elapsedMs: 500 }, startedAt + 500);
		facts.see({ type: "pod.accepted", ...pod("us"), waitedMs: 0, graceSeconds: 30 }, startedAt + 1_000);
		const message = "budget shop/db has no disruption left: 5 of 6 healthy, 5 required";
		const full = { reason: "BudgetExhausted", budget: "shop/db", need: 5, healthy: 5, expected: 6 } as const;
		facts.see({ type: "pod.waiting", ...pod("ap"), message, ...full, usedBy: [] }, startedAt + 1_000);
		const lines = frame({ columns: 80, rows: 24, facts, second: 3 });
		const lane = (context: string) => lines.find((line) => line.startsWith(`  ${context} `));
		expect(lane("eu")).toMatch(/ ✔ done +1\/1$/);
		expect(lane("us")).toMatch(/ ● evicting +0\/1 +db-0 terminating 2s\/30s$/);
		expect(lane("ap")).toMatch(/ ! waiting +0\/1 +1 waits for shop\/db$/);
	});

	test("explains the pod that is selected among those that use a budget up", () => {
		const look = (view: Partial<ViewState>) => frame({ columns: 100, rows: 30, view }).join("\n");
		for (const selected of ["budget payments/api", waiting, "node prod-us node-us-02"]) {
			const page = look({ pane: "explain", selected, culprit: 1 });
			expect(page).toContain("Used up by (tab selects one, e explains it, y shows it):");
			expect(page).toMatch(/\n > prod-ap\/payments\/api-7c9d4-9mm4t: Pending for /);
			const explained = look({ pane: "culprit", selected, culprit: 1 });
			expect(explained).toContain("Pod payments/api-7c9d4-9mm4t in prod-ap");
			expect(explained).toContain("0/3 nodes are available: 3 Insufficient cpu.");
			expect(explained).toContain("See: kubectl describe pod api-7c9d4-9mm4t -n payments --context prod-ap");
		}
		expect(look({ pane: "culprit", selected: waiting, culprit: 5 })).toContain("does not use the budget up any more");
	});

	test("keeps long names of contexts apart in the events, too", () => {
		const facts = new RunFacts();
		const nodes = ["production-eu-1", "production-eu-2"].map((context) => ({ context, node: "node-1" }));
		facts.see({ type: "run.started", members: [], nodes, pods: [], dryRun: "none" }, startedAt);
		for (const node of nodes)
			facts.see({ type: "node.cordoned", ...node, already: false, ours: true, dryRun: "none" }, startedAt);
		const lines = frame({ columns: 80, rows: 24, facts, second: 1 }).filter((line) => line.includes("cordoned"));
		expect(lines.map((line) => line.trim().split(/ +/)[1])).toEqual(["production-eu-2", "production-eu-1"]);
	});

	test("says when a pod is looked at again, and of less than a second no number", () => {
		const look = (second: number) =>
			frame({ columns: 100, rows: 30, second, view: { pane: "explain", selected: waiting } }).join("\n");
		// It began to wait at second 150, for 5 s at most.
		expect(look(152)).toContain("It is looked at again in 3s at the latest.");
		expect(look(154.5)).toContain("It is looked at again in a moment at the latest.");
		expect(look(156)).not.toContain("looked at again");
	});

	test("shows no cluster's pods that are not those of the sum", () => {
		const facts = sampleFacts();
		const look = (view: Partial<ViewState>) => frame({ columns: 140, rows: 40, facts, view }).join("\n");
		const page = { pane: "explain", selected: "budget payments/api" } as const;
		// 17 were counted in the clusters, but 16 when a pod had to wait.
		expect(look({})).toMatch(/payments\/api +0 of 2 +16\/18 +>= 16 +\? +\? +\? /);
		expect(look(page)).not.toContain("Healthy by cluster");
		const clusters = ["prod-eu", "prod-us", "prod-ap"].map((name) => ({ name, healthy: 5, expected: 6 }));
		const counted = { healthy: 15, need: 16, expected: 18, left: 0, clusters };
		facts.see({ type: "budget.changed", budget: "payments/api", ...counted }, startedAt + 160_000);
		expect(look({})).toMatch(/payments\/api +0 of 2 +15\/18 +>= 16 +5\/6 +5\/6 +5\/6 /);
		expect(look(page)).toContain("Healthy by cluster: prod-eu 5/6");
	});

	test("knows no end while it is paused", () => {
		const facts = sampleFacts();
		const title = () => frame({ columns: 100, rows: 30, facts })[0];
		expect(title()).toMatch(/ 4–11 min left/);
		facts.see({ type: "paused", accepted: 0 }, startedAt + 160_000);
		expect(title()).toMatch(/ PAUSED .* 4 min or more left/);
		facts.see({ type: "resumed", pausedMs: 500 }, startedAt + 160_500);
		expect(title()).toMatch(/ 4–11 min left/);
	});

	test("says of a budget that needs all its pods that it lets none go, and what shows it", () => {
		const facts = sampleFacts();
		const at = startedAt + 160_000;
		const counted = { budget: "payments/vault", need: 6, healthy: 6, expected: 6 };
		const clusters = [{ name: "prod-us", healthy: 6, expected: 6 }];
		facts.see({ type: "budget.changed", ...counted, left: 0, clusters }, at);
		const pod = { context: "prod-us", namespace: "payments", pod: "vault-0", uid: "vault-0", node: "node-us-02" };
		const message = "budget payments/vault has no disruption left: 6 of 7 healthy, 6 required";
		facts.see({ type: "pod.waiting", ...pod, reason: "BudgetExhausted", message, ...counted, usedBy: [] }, at);
		const lines = frame({ columns: 100, rows: 30, facts });
		expect(lines.find((line) => line.includes("payments/vault  "))).toMatch(/ 0 of 0 .* none, all pods are required$/);
		expect(lines.find((line) => line.includes("payments/vault-0"))).toMatch(
			/1st for payments\/vault: needs all 6, lets none go$/,
		);
		const explained = frame({
			columns: 100,
			rows: 30,
			facts,
			view: { pane: "explain", selected: "budget payments/vault" },
		});
		expect(explained.join("\n")).toContain(" It allows no eviction, however many pods are healthy. Change its bound");
		expect(explained.join("\n")).toContain("As it is now: kubectl xpdb explain budget/vault -n payments");
	});

	test("counts a budget's pods in every cluster of the fleet, also where no node is drained", () => {
		const facts = new RunFacts();
		const members = ["eu", "us"].map((cluster) => ({ cluster, context: `${cluster}-admin`, version: "0.1.0" }));
		const nodes = [{ context: "eu-admin", node: "node-1" }];
		facts.see({ type: "run.started", members, nodes, pods: [], dryRun: "none" }, startedAt);
		const clusters = members.map(({ cluster: name }, at) => ({ name, healthy: 2 - at, expected: 2 }));
		const counted = { healthy: 3, need: 3, expected: 4, left: 0, clusters } as const;
		facts.see({ type: "budget.changed", budget: "shop/db", ...counted }, startedAt);
		facts.see({ type: "cluster.recovered", cluster: "us", elapsedMs: 9_000 }, startedAt);
		const lines = frame({ columns: 140, rows: 40, facts, second: 1 });
		expect(lines.find((line) => line.includes("BUDGET"))).toMatch(/NEED +eu-admin +us-admin +USED UP BY$/);
		expect(lines.find((line) => line.includes("shop/db"))).toMatch(/>= 3 +2\/2 +1\/2 /);
		expect(lines.join("\n")).toContain("cluster us answers again after 9s");
	});

	test("knows no budget of which this run took a pod, until it is counted again", () => {
		const facts = sampleFacts();
		const at = startedAt + 160_000;
		const row = () => frame({ columns: 140, rows: 40, facts }).find((line) => line.includes("search/indexer  "));
		const pod = { context: "prod-us", namespace: "search", pod: "indexer-4", uid: "indexer-4" };
		expect(row()).toMatch(/ 1 of 1 +9\/9 /);
		facts.see(
			{ type: "pod.evicting", ...pod, dryRun: "server", deletes: false, budgets: ["search/indexer"], attempt: 1 },
			at,
		);
		expect(row()).toMatch(/ 1 of 1 +9\/9 /);
		facts.see(
			{ type: "pod.evicting", ...pod, dryRun: "none", deletes: false, budgets: ["search/indexer"], attempt: 1 },
			at,
		);
		facts.see({ type: "pod.gone", ...pod, waitedMs: 900 }, at + 900);
		expect(row()).toMatch(/ \? of 1 +\?\/9 .*prod-us\/indexer-4 ended 0s ago$/);
		const clusters = [{ name: "prod-us", healthy: 9, expected: 9 }];
		const counted = { healthy: 9, need: 8, expected: 9, left: 1, clusters } as const;
		facts.see({ type: "budget.changed", budget: "search/indexer", ...counted }, at + 1_000);
		expect(row()).toMatch(/ 1 of 1 +9\/9 .* -$/);
	});

	test("names each budget for which pods of a node wait", () => {
		const facts = sampleFacts();
		const node = () => frame({ columns: 80, rows: 24, facts }).find((line) => line.includes("  node-us-02 "));
		expect(node()).toMatch(/ 2 wait for payments\/api$/);
		const pod = { context: "prod-us", node: "node-us-02", namespace: "search", pod: "indexer-4", uid: "indexer-4" };
		const wait = { reason: "BudgetExhausted", message: "used up", usedBy: [], retryAfterMs: 5_000 } as const;
		facts.see({ type: "pod.waiting", ...pod, ...wait, budget: "search/indexer" }, startedAt + 160_000);
		expect(node()).toMatch(/ 3 wait for payments\/api, search/);
		const wide = frame({ columns: 140, rows: 40, facts }).find((line) => line.includes("  node-us-02 "));
		expect(wide).toMatch(/ 3 wait for payments\/api, search\/indexer$/);
	});

	test("never says that nobody waits for a budget of somebody who does", () => {
		const facts = sampleFacts();
		const pod = { context: "prod-us", node: "node-us-02", namespace: "payments", pod: "api-7c9d4-kk2lm" };
		const tried = { ...pod, uid: "prod-us-api-7c9d4-kk2lm", dryRun: "none", deletes: false, attempt: 2 } as const;
		facts.see({ type: "pod.evicting", ...tried, budgets: ["payments/api"] }, startedAt + 160_000);
		const explained = text({
			columns: 140,
			rows: 40,
			facts,
			view: { pane: "explain", selected: "budget payments/api" },
		});
		expect(explained).toContain("Counted before this run last tried to evict under it.");
		expect(explained).not.toContain("nobody waits");
	});

	test("lets nobody believe that nobody waits while a member gives no answer", () => {
		const facts = new RunFacts();
		facts.see({ type: "cluster.unreachable", cluster: "us", message: "no connection", elapsedMs: 0 }, startedAt);
		expect(text({ columns: 80, rows: 24, facts })).toContain("all that is left waits: us gives no answer");
	});

	test.each([
		[60, 15],
		[80, 24],
		[100, 30],
		[140, 40],
	])("says the same at %dx%d, as far as it fits", (columns, rows) => {
		expect(text({ columns, rows })).toMatchSnapshot("frame");
	});

	test("says the same in plain ASCII", () => {
		const ascii = text({ columns: 100, rows: 30, ascii: true });
		expect(ascii).toMatch(/^[\n\x20-\x7e]*$/);
		expect(ascii).toMatchSnapshot();
	});

	test.each(panes)("has a page for %s", (pane) => {
		expect(text({ columns: 80, rows: 24, view: { pane, selected: waiting } })).toMatchSnapshot("page");
	});

	test("is never wider than the terminal, and always one line lower, with or without a page, whatever is selected", () => {
		const facts = sampleFacts();
		const selections = [undefined, ...selectableRows(facts), "pod that is gone"];
		for (let columns = 60; columns <= 200; columns += 20) {
			for (const rows of [15, 16, 24, 25, 26, 50]) {
				for (const pane of [undefined, ...panes]) {
					const selected = selections[(columns + rows) % selections.length];
					const lines = frame({ columns, rows, facts, view: { pane, selected, scroll: columns % 9 } });
					expect(lines).toHaveLength(rows - 1);
					expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
				}
			}
		}
	});

	test("gives way on what is too small, without a line too many", () => {
		for (const [columns, rows] of [
			[59, 30],
			[100, 14],
			[1, 1],
			[10, 3],
		] as const) {
			const lines = frame({ columns, rows });
			expect(lines.length).toBeLessThan(Math.max(rows, 1));
			expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
		}
	});

	test("keeps its rows where they are while pods move", () => {
		const facts = sampleFacts();
		const place = (word: string): number =>
			frame({ columns: 100, rows: 30, facts }).findIndex((line) => line.includes(word));
		const words = ["node-eu-07", "node-ap-04", "payments/api  ", "WAITING", "EVENTS"];
		const before = words.map(place);
		const pod = { context: "prod-us", node: "node-us-02", namespace: "payments", uid: "prod-us-api-7c9d4-kk2lm" };
		facts.see(
			{ type: "pod.accepted", ...pod, pod: "api-7c9d4-kk2lm", waitedMs: 1, graceSeconds: 30 },
			startedAt + 162_000,
		);
		facts.see({ type: "node.draining", context: "prod-ap", node: "node-ap-04", pods: 5 }, startedAt + 163_000);
		facts.see({ type: "node.drained", context: "prod-eu", node: "node-eu-07", dryRun: "none" }, startedAt + 164_000);
		expect(words.map(place)).toEqual(before);
	});

	test("shows the selected row where all do not fit, and how many are out of sight", () => {
		const facts = new RunFacts();
		const nodes = Array.from({ length: 40 }, (_, index) => ({ context: "eu", node: `node-${index}` }));
		facts.see({ type: "run.started", members: [], nodes, pods: [], dryRun: "none" }, startedAt);
		for (const node of nodes) facts.see({ type: "node.draining", ...node, pods: 1 }, startedAt);
		const lines = frame({ columns: 80, rows: 24, facts, view: { selected: "node eu node-30" } });
		expect(lines.find((line) => line.startsWith(">"))).toContain("node-30");
		expect(lines.some((line) => /\+ \d+ above, 9 more below/.test(line))).toBe(true);
	});

	test("counts no time before the first event has come", () => {
		expect(frame({ columns: 80, rows: 24, facts: new RunFacts() })[0]).toMatch(/ 00:00$/);
	});

	test("says that it is paused, and that it stops", () => {
		const facts = sampleFacts();
		facts.see({ type: "paused", accepted: 2 }, startedAt);
		expect(frame({ columns: 80, rows: 24, facts })[0]).toContain("PAUSED");
		facts.see({ type: "resumed", pausedMs: 5_000 }, startedAt);
		expect(frame({ columns: 80, rows: 24, facts })[0]).not.toContain("PAUSED");
		facts.see({ type: "interrupted", accepted: 2, graceSeconds: 30 }, startedAt);
		expect(frame({ columns: 80, rows: 24, facts })[0]).toContain("STOPPING");
	});

	test("takes names in scripts that are wider, and texts that would steer a terminal", () => {
		const facts = new RunFacts();
		const node = { context: "東京", node: "ノード-1" };
		facts.see(
			{ type: "run.started", members: [], nodes: [node, { ...node, node: "n2" }], pods: [], dryRun: "none" },
			startedAt,
		);
		facts.see({ type: "diagnostic", level: "warning", message: "a\u001b[2Jb\nc" }, startedAt);
		const lines = frame({ columns: 80, rows: 24, facts });
		expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
		expect(lines.join("")).toContain("a\\u001b[2Jb\\u000ac");
	});
});
