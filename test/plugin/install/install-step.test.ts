import { expect, test } from "vitest";
import { installStep } from "../../../plugin/install/install-step.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

const context = { name: "c1", suggest: suggestDefault };

test.each([
	[
		"who is not logged in",
		new ApiError("Unauthorized", { code: 401, reason: "Unauthorized" }),
		"c1: cannot read its version: you must be logged in to the server (Unauthorized)",
		"See 'kubectl auth whoami --context c1'",
	],
	[
		"who may not",
		new ApiError("nodes is forbidden", { code: 403, reason: "Forbidden" }),
		"c1: cannot read its version: nodes is forbidden",
		"Who installs needs the rights of a cluster administrator: 'kubectl xpdb check --pre --context c1' names all that are missing",
	],
	[
		"nobody who listens",
		new ConnectionError("https://c1.example:6443", Object.assign(new Error("refused"), { code: "ECONNREFUSED" })),
		"c1: cannot read its version: The connection to the server c1.example:6443 was refused - did you specify the right host or port?",
		undefined,
	],
	[
		"a server that says nothing",
		new DOMException("The operation was aborted due to timeout", "TimeoutError"),
		"c1: cannot read its version: its API server gave no answer in time",
		undefined,
	],
])("says what to do of %s", async (_, error, message, hint) => {
	await expect(installStep(context, "read its version", Promise.reject(error))).rejects.toMatchObject({
		message,
		hint,
	});
});

test("lets a bug through as it is", async () => {
	const bug = new TypeError("no");
	await expect(installStep(context, "read its version", Promise.reject(bug))).rejects.toBe(bug);
});
