import type { V1PodDisruptionBudget } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { nativeCoverage, readNativeBudgets } from "../../../plugin/plan/native-budgets.ts";
import { nativeBudgetRow } from "../../../plugin/plan/planned-budgets.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const labels = { app: "web" };
const budget = (
	name: string,
	{ spec = {}, status = {} }: Pick<V1PodDisruptionBudget, "spec"> & { readonly status?: object } = {},
): V1PodDisruptionBudget => ({
	metadata: { namespace: "default", name },
	spec: { selector: { matchLabels: labels }, maxUnavailable: 1, ...spec },
	status: { currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1, expectedPods: 3, ...status },
});

async function coverageOf(pod: ReturnType<typeof newV1Pod>, ...budgets: readonly V1PodDisruptionBudget[]) {
	const context = newContext("c1", newClient({ list: () => budgets }));
	const native = await readNativeBudgets(context, "id-c1");
	return nativeCoverage(pod, native.budgets);
}

describe("nativeCoverage()", () => {
	const web = newV1Pod("web-0", { labels });
	const rows = [
		{ name: "covers a pod by its labels", pod: web, budgets: [budget("web")], expected: "covered" },
		{
			name: "covers no pod of another namespace",
			pod: newV1Pod("x", { labels, namespace: "other" }),
			budgets: [budget("web")],
			expected: "none",
		},
		{ name: "covers no other pod", pod: newV1Pod("x"), budgets: [budget("web")], expected: "none" },
		{
			name: "covers nothing without a selector",
			pod: web,
			budgets: [{ ...budget("web"), spec: { maxUnavailable: 0 } }],
			expected: "none",
		},
		{
			name: "covers everything by an empty selector",
			pod: newV1Pod("x"),
			budgets: [budget("web", { spec: { selector: {} } })],
			expected: "covered",
		},
		{
			name: "is not asked for a pod that has ended",
			pod: newV1Pod("x", { labels, phase: "Succeeded" }),
			budgets: [budget("web")],
			expected: "none",
		},
		{
			name: "is not asked for a pod that is ending",
			pod: newV1Pod("x", { labels, deletedAt: "2026-01-01T00:00:00Z" }),
			budgets: [budget("web")],
			expected: "none",
		},
		{
			name: "lets unready pods go where it says so",
			pod: web,
			budgets: [budget("web", { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } })],
			expected: "none",
		},
		{
			name: "never lets a pod go that has two",
			pod: web,
			budgets: [budget("web"), budget("all", { spec: { selector: {} } })],
			expected: "never MultipleBudgets",
		},
		{
			name: "never lets a pod go that its cluster cannot count",
			pod: web,
			budgets: [
				budget("web", {
					status: { conditions: [{ type: "DisruptionAllowed", reason: "SyncFailed", message: "jobs has no scale" }] },
				}),
			],
			expected: "never DisruptionBudget",
		},
	];
	for (const { name, pod, budgets, expected } of rows) {
		test(name, async () => {
			const found = await coverageOf(pod, ...budgets);
			expect(found.kind === "never" ? `never ${found.never.reason}` : found.kind).toBe(expected);
		});
	}
});

describe("readNativeBudgets()", () => {
	test("says what it may not read, and goes on without", async () => {
		const forbidden = new ApiError("poddisruptionbudgets is forbidden", { code: 403, reason: "Forbidden" });
		const context = newContext("c1", newClient({ list: () => Promise.reject(forbidden) }));
		const { budgets, problems } = await readNativeBudgets(context, "id-c1");
		expect(budgets).toEqual([]);
		expect(problems).toEqual([expect.stringMatching(/^c1: its PodDisruptionBudgets cannot be read: .*forbidden/)]);
	});
});

describe("nativeBudgetRow()", () => {
	const rows = [
		{ name: "allows what is healthy beyond the need", status: {}, allowed: 1 },
		{ name: "allows nothing below the need", status: { currentHealthy: 1 }, allowed: 0 },
		{ name: "allows nothing where no pods are expected", status: { desiredHealthy: 0, expectedPods: 0 }, allowed: 0 },
	];
	for (const { name, status, allowed } of rows) {
		test(name, async () => {
			const context = newContext("c1", newClient({ list: () => [budget("web", { status })] }));
			const { budgets } = await readNativeBudgets(context, "id-c1");
			const { currentHealthy, desiredHealthy, expectedPods } = { ...budget("web").status, ...status };
			expect(budgets.map((each) => nativeBudgetRow(each, []))).toEqual([
				{
					kind: "PodDisruptionBudget",
					context: "c1",
					namespace: "default",
					name: "web",
					bound: "maxUnavailable 1",
					suspended: false,
					need: desiredHealthy,
					healthy: currentHealthy,
					expected: expectedPods,
					allowed,
					pods: 0,
				},
			]);
		});
	}
});
