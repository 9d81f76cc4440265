import { describe, expect, test } from "vitest";
import { RunFacts } from "../../../plugin/ui/run-facts.ts";
import type { Pane } from "../../../plugin/ui/view-state.ts";
import { drawFrame as frame } from "./draw-frame.ts";
import { sampleFacts, startedAt } from "./sample-run.ts";

const panes: readonly Pane[] = ["details", "explain", "culprit", "object", "budgets", "warnings", "help"];

describe("drainFrame(), at every size", () => {
	test("lists all warnings of the run in full, however many events came since", () => {
		const facts = sampleFacts();
		const long = `volume ${"very ".repeat(30)}long`;
		facts.see({ type: "diagnostic", level: "error", context: "prod-ap", message: long }, startedAt + 1_000);
		for (let at = 0; at < 300; at += 1) facts.see({ type: "paused", accepted: at }, startedAt + 2_000 + at);
		const drawn = frame({ columns: 60, rows: 15, facts, view: { pane: "warnings" } });
		const page = drawn.join(" ").replaceAll(/\s+/g, " ");
		expect(page).toContain("hh:mm:ss prod-us: Warning: ignoring DaemonSet-managed Pods: kube-system/ds-x");
		expect(page).toContain(`hh:mm:ss prod-ap: error: ${long}`);
		expect(drawn[0]).toContain("2 warnings");
	});

	const sizes = [
		{ columns: 60, rows: 15 },
		{ columns: 80, rows: 24 },
		{ columns: 140, rows: 40 },
	];
	for (const { columns, rows } of sizes) {
		test(`names every key at ${columns}x${rows}, and wraps no heading`, () => {
			const views = [{}, ...panes.map((pane) => ({ pane, selected: "node prod-us node-us-02" }))];
			for (const view of views) {
				const drawn = frame({ columns, rows, view });
				const keys = drawn.at(-1) ?? "";
				for (const key of [/up/, /\be\b/, /\by\b/, /\bb\b/, /\bw\b/, /\bp\b/, /\bq\b/, /ctrl-c|\^C/, /\? help$/])
					expect(keys, keys).toMatch(key);
				expect(keys).toMatch("pane" in view ? /esc/ : /enter/);
				expect(drawn.filter((line) => /^ +(?:WHY|USED UP BY|NOW)$/.test(line))).toEqual([]);
			}
		});

		test(`cuts names last at ${columns}x${rows}, and never so that two look alike`, () => {
			const facts = new RunFacts();
			const context = "gke_production_europe-west1_main";
			const nodes = ["a", "b"].map((pool) => ({ context, node: `gke-main-pool-${pool}-6f8d7c5b-x7k2` }));
			facts.see({ type: "run.started", members: [], nodes, pods: [], dryRun: "none" }, startedAt);
			for (const { node } of nodes) {
				facts.see({ type: "node.draining", context, node, pods: 1 }, startedAt);
				const pod = {
					context,
					node,
					namespace: "shop",
					pod: `checkout-backend-${node.slice(14, 15)}-6f8d7c5b9-x7k2q`,
					uid: node,
				};
				const wait = { reason: "BudgetExhausted", message: "used up", usedBy: [] } as const;
				const budget = `shop/checkout-backend-${node.slice(14, 15)}-budget-of-the-shop`;
				facts.see({ type: "pod.waiting", ...pod, ...wait, budget, need: 1, healthy: 1, expected: 2 }, startedAt);
			}
			const drawn = frame({ columns, rows, facts, second: 2 });
			const firsts = drawn.map((line) => line.trim().split(/ {2,}| [●!·✔✖] /)[0]);
			for (const word of ["gke", "shop"]) {
				const names = firsts.filter((first) => first?.startsWith(word));
				expect(names).toHaveLength(2);
				expect(new Set(names).size, names.join()).toBe(2);
			}
			const waits = drawn.filter((line) => line.startsWith("  ! ")).map((line) => line.slice(4, 30));
			expect(new Set(waits).size, waits.join()).toBe(2);
			// Names are complete if there is room.
			expect(drawn.join("\n").includes(`${nodes[0]?.node} `)).toBe(columns >= 80);
		});
	}
});
