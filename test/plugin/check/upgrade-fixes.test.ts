// Tests that findings suggest an upgrade if it helps, with --force-conflicts if another manager has changed the fields.
import { describe, expect, test } from "vitest";
import { judgeBudgetKind } from "../../../plugin/check/judge-access.ts";
import { judgePolicies } from "../../../plugin/check/judge-policies.ts";
import { newContext } from "../../support/build-context.ts";
import { binding, policiesOf, policy } from "../../support/build-policies.ts";

const eu = newContext("eu");
const kind = (fields: readonly string[]) => ({ kind: "read", value: { fields: new Set(fields) } }) as const;
const plainUpgrade = "kubectl xpdb upgrade --context eu";
const forcedUpgrade = "kubectl xpdb upgrade --force-conflicts --context eu";

describe("the command that helps", () => {
	const rows = [
		["a policy that is missing", judgePolicies(policiesOf({ policy: undefined }), eu), plainUpgrade],
		[
			"a binding that only warns",
			judgePolicies(policiesOf({ binding: binding("xpdb-leases", ["Warn"]) }), eu),
			forcedUpgrade,
		],
		[
			"a policy that lets errors pass",
			judgePolicies(policiesOf({ policy: policy("xpdb-leases", "Ignore") }), eu),
			forcedUpgrade,
		],
		["a cluster without our kind", judgeBudgetKind({ kind: "read", value: undefined }, eu), plainUpgrade],
		[
			"an older definition of it",
			judgeBudgetKind(kind(["selector", "minAvailable", "maxUnavailable"]), eu),
			forcedUpgrade,
		],
		[
			"an older definition before an installation, which nothing can be upgraded to",
			judgeBudgetKind(kind(["selector"]), eu, { mayBeMissing: true }),
			"kubectl get customresourcedefinition xpoddisruptionbudgets.x-pdb.form3.tech -o yaml --context eu",
		],
	] as const;
	for (const [what, { findings }, fix] of rows) {
		test(`against ${what}`, () => {
			expect(findings.map((each) => each.fix)).toEqual([fix]);
		});
	}
});
