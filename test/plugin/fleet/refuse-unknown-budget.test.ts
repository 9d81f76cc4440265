import { expect, test } from "vitest";
import { refuseUnknownBudget } from "../../../plugin/fleet/refuse-unknown-budget.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";

const budget = { metadata: { uid: "u", resourceVersion: "1" } };
const contextWith = (name: string, answer: object) =>
	newContext(
		name,
		newClient({
			get(path) {
				expect(path).toBe("/apis/x-pdb.form3.tech/v1alpha1/namespaces/default/xpoddisruptionbudgets/db");
				if (answer instanceof Error) throw answer;
				return answer;
			},
		}),
	);
const none = contextWith("none", notFound("not found"));
const forbidden = contextWith("forbidden", new ApiError("forbidden", { code: 403, reason: "Forbidden" }));

test("refuseUnknownBudget() refuses a budget that no context has, in kubectl's words", async () => {
	await expect(refuseUnknownBudget([none, none], "db")).rejects.toMatchObject({
		message: 'xpoddisruptionbudgets.x-pdb.form3.tech "db" not found',
		code: 404,
	});
});

test("refuseUnknownBudget() is silent where a context has the budget, or may not be asked", async () => {
	for (const other of [contextWith("some", budget), forbidden]) {
		await expect(refuseUnknownBudget([none, other], "db")).resolves.toBeUndefined();
	}
});
