// Tests that xpdb reads kubeconfigs as kubectl does: with the same cluster, user and namespace, or a refusal.
import { describe, expect, test } from "vitest";
import { askOurselves, comparable } from "./kubeconfig-answers.ts";
import type { KubeconfigRow } from "./kubeconfig-row.ts";
import { kubeconfigRows, recordedAnswers } from "./recorded-kubeconfigs.ts";

/** xpdb refuses these, because the yaml package cannot read them (docs/kubectl.md). */
const refusedByUs: ReadonlySet<string> = new Set(["numbers: -", "layout: a flow that is not indented"]);

describe("a kubeconfig", () => {
	const answers = recordedAnswers();
	const groups = Map.groupBy(
		kubeconfigRows,
		({ name }) => /^(?:(?:cluster|user|exec|context): )?[^:]*/.exec(name)?.[0] ?? "",
	);
	for (const [group, rows] of groups) {
		test(`${group}: ${rows.length} as kubectl reads them`, async () => {
			expect(
				rows.filter((row) => answers.get(row) === undefined).map(({ name }) => name),
				"not recorded",
			).toEqual([]);
			const ours: Record<string, unknown> = {};
			const kubectls: Record<string, unknown> = {};
			for (const row of rows) {
				const answer = await askOurselves(row);
				ours[row.name] = comparable(answer);
				kubectls[row.name] = refusedByUs.has(row.name) ? {} : comparable(answers.get(row) ?? {});
				demandNames(row, answer.error);
			}
			expect(ours).toEqual(kubectls);
		});
	}

	test("every row has a name of its own, and every feature and field has four", () => {
		expect(new Set(kubeconfigRows.map(({ name }) => name)).size).toBe(kubeconfigRows.length);
		const few = [...groups].filter(([, rows]) => rows.length < 4).map(([group]) => group);
		expect(
			few.filter(
				(group) => !/: (exec|old|an authority|a file|no)/.test(group) && !/^(KIND|ApiVersion|a field)/.test(group),
			),
		).toEqual([]);
		for (const name of refusedByUs) expect(kubeconfigRows.some((row) => row.name === name)).toBe(true);
	});
});

/** Checks that a refusal has a message of xpdb's own and is not a bug. */
function demandNames({ name }: KubeconfigRow, error: string | undefined): void {
	if (error === undefined) return;
	expect(error, name).toMatch(/^(error: |Error in configuration: )/);
	expect(error, name).not.toMatch(/TypeError|undefined|\[object/);
}
