import { describe, expect, test } from "vitest";
import { planLines } from "../../../plugin/output/plan-lines.ts";
import { makePlan } from "../../../plugin/plan/make-plan.ts";
import { databasePod, type FactFields, newFacts, planOptions } from "../../support/build-facts.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const web = Array.from({ length: 12 }, (_, index) =>
	newV1Pod(`web-5d9c7b8f6-x${index}`, { namespace: "shop", owner: { kind: "ReplicaSet", name: "web-5d9c7b8f6" } }),
);
const usual: FactFields = { eu: [databasePod("db-0"), ...web], us: [databasePod("db-1")] };
const impossible: FactFields = { ...usual, spec: { maxUnavailable: 0 } };
const lines = (fields: FactFields, columns?: number, wide = false) =>
	planLines(makePlan(newFacts(fields), planOptions), { several: true, wide, columns });

describe("planLines()", () => {
	test("shows waves, budgets and the sum", () => {
		expect(lines(usual)).toEqual([
			"WAVE   POD                            NODE       WAITS FOR",
			"1      shop/db-0                      eu/eu-n0   -",
			"1      shop/web-5d9c7b8f6 (12 pods)   eu/eu-n0   -",
			"2      shop/db-1                      us/us-n0   shop/db: db-0 in eu",
			"",
			"BUDGET    ALLOWED   HEALTHY   NEED   EXPECTED   PODS",
			"shop/db   1         6         5      6          2",
			"",
			"2 nodes, 14 pods, 2 waves, 5s to 20s (by grace periods, start-up assumed for 12 pods).",
			"Nothing was changed, no lease was taken.",
		]);
	});

	test("tells what can never go first, and says so at the end again", () => {
		const told = lines(impossible);
		expect(told.slice(0, 3)).toEqual([
			"2 pods can never go as things are:",
			"  shop/db-0 on eu/eu-n0: budget shop/db with maxUnavailable 0 needs 6 healthy of 6 expected pods: that leaves none to disrupt",
			"  shop/db-1 on us/us-n0: budget shop/db with maxUnavailable 0 needs 6 healthy of 6 expected pods: that leaves none to disrupt",
		]);
		expect(told.at(-1)).toBe(
			"Not possible: 2 pods can never go (see the top), the rest is planned without them. Nothing was changed.",
		);
	});

	test("tells which pods go and would not come back, and who waits for them for ever", () => {
		const told = lines({ ...usual, cluster: { nodes: [] } });
		expect(told.slice(0, 7)).toEqual([
			"1 pod can never go as things are:",
			"  shop/db-1 on us/us-n0: budget shop/db has no disruption left: 5 of 6 healthy, 5 required, and stays used up: the replacement of shop/db-0 would find no node",
			"",
			"13 pods would not come back, no node is left for them:",
			"  shop/db-0, shop/web-5d9c7b8f6 (12 pods) on eu/eu-n0: no node of the cluster is left",
			"",
			"WAVE   POD                            NODE       WAITS FOR",
		]);
		expect(told.at(-2)).toBe("13 pods would not come back (see the top).");
	});

	test("puts pods with one reason on one line", () => {
		const message = "Pods that declare no controller (use --force to override)";
		const refused = ["a", "b", "c", "d", "e"].map((name) => ({ pod: newV1Pod(name), message }));
		expect(lines({ filtered: { refused } })[1]).toBe(
			`  default/a, default/b, default/c, default/d and 1 more on eu/eu-n0: ${message}`,
		);
	});

	test("has a line for each pod where it is wide", () => {
		expect(lines(usual, undefined, true).filter((line) => line.includes("web-"))).toHaveLength(12);
	});

	for (const columns of [30, 40, 60, 80, 100]) {
		test(`fits ${columns} columns`, () => {
			for (const fields of [usual, impossible, { ...usual, cluster: { nodes: [] } }]) {
				for (const line of lines(fields, columns)) expect(line.length, line).toBeLessThanOrEqual(columns);
			}
		});
	}

	test("needs no table at 40 columns", () => {
		expect(lines(usual, 40).slice(0, 5)).toEqual([
			"wave 1: shop/db-0 on eu/eu-n0",
			"wave 1: shop/web-5d9c7b8f6 (12 pods) on",
			"    eu/eu-n0",
			"wave 2: shop/db-1 on us/us-n0",
			"  waits for shop/db: db-0 in eu",
		]);
	});

	test("says that there is nothing to do", () => {
		expect(lines({}).slice(-2)).toEqual(["2 nodes, no pods to evict.", "Nothing was changed, no lease was taken."]);
	});
});
