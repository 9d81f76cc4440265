import { describe, expect, test } from "vitest";
import { classifyRefusal } from "../../../plugin/evictions/send-eviction.ts";
import { ApiError, ConnectionError, kubectlErrorLine, readApiError } from "../../../plugin/kubernetes/api-error.ts";

const status = (fields: object): string =>
	JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", ...fields });

test("readApiError() waits for nobody for a day", () => {
	for (const retryAfter of ["86400", "9".repeat(400)])
		expect(readApiError(503, "", retryAfter).retryAfterSeconds).toBe(60);
	expect(readApiError(503, "", "5").retryAfterSeconds).toBe(5);
	expect(readApiError(503, "", "soon").retryAfterSeconds).toBeUndefined();
});

test("ConnectionError has words for several addresses that all fail", () => {
	const one = Object.assign(new Error("connect ETIMEDOUT"), { code: "ETIMEDOUT" });
	expect(new ConnectionError("https://eu", new AggregateError([one, one])).message).toBe("ETIMEDOUT");
	expect(new ConnectionError("https://eu", new AggregateError([])).message).toBe("the connection failed");
});

describe("kubectlErrorLine()", () => {
	const rows: readonly { readonly error: Error; readonly line: string }[] = [
		{
			error: readApiError(404, status({ message: 'nodes "x" not found', reason: "NotFound", code: 404 }), undefined),
			line: 'Error from server (NotFound): nodes "x" not found',
		},
		{
			error: readApiError(400, status({ message: "admission webhook denied", code: 400 }), undefined),
			line: "Error from server: admission webhook denied",
		},
		{
			error: readApiError(401, status({ message: "Unauthorized", reason: "Unauthorized", code: 401 }), undefined),
			line: "error: You must be logged in to the server (Unauthorized)",
		},
		{
			error: readApiError(503, "upstream is down\n", undefined),
			line: "Error from server (ServiceUnavailable): upstream is down",
		},
		{ error: readApiError(500, status({ message: "\ufeff \n" }), undefined), line: "Error from server: unknown" },
		{ error: readApiError(502, "", undefined), line: "Error from server: the server answered 502" },
		{
			error: new ConnectionError(
				"https://127.0.0.1:1/x",
				Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
			),
			line: "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?",
		},
		{
			error: new ConnectionError("https://a", new Error("getaddrinfo ENOTFOUND a")),
			line: "Unable to connect to the server: getaddrinfo ENOTFOUND a",
		},
	];
	for (const { error, line } of rows) {
		test(line, () => {
			expect(kubectlErrorLine(error)).toBe(line);
		});
	}
});

describe("classifyRefusal()", () => {
	const rows: readonly { readonly name: string; readonly error: ApiError; readonly kind: string }[] = [
		{ name: "404", error: new ApiError("gone", { code: 404 }), kind: "gone" },
		{ name: "409", error: new ApiError("precondition", { code: 409 }), kind: "conflict" },
		{ name: "a budget's 429", error: new ApiError("cannot evict pod", { code: 429 }), kind: "blocked" },
		{
			name: "a terminating namespace",
			error: new ApiError("forbidden", {
				code: 403,
				causes: [{ reason: "NamespaceTerminating", message: "", field: "" }],
			}),
			kind: "namespaceTerminating",
		},
		{ name: "403", error: new ApiError("forbidden", { code: 403 }), kind: "denied" },
		{ name: "a webhook's 400", error: new ApiError("admission webhook denied", { code: 400 }), kind: "denied" },
		{
			name: "a webhook that cannot be called",
			error: new ApiError("failed calling webhook", { code: 500 }),
			kind: "blocked",
		},
		{ name: "503", error: new ApiError("unavailable", { code: 503 }), kind: "blocked" },
		{ name: "504", error: new ApiError("timeout", { code: 504 }), kind: "blocked" },
		{
			name: "two budgets of Kubernetes' own, which no waiting changes",
			error: new ApiError(
				"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
				{ code: 500 },
			),
			kind: "denied",
		},
	];
	for (const { name, error, kind } of rows) {
		test(`${name} is ${kind}`, () => {
			const answer = classifyRefusal(error);
			expect(answer.kind === "refused" ? answer.refusal.kind : answer.kind).toBe(kind);
		});
	}
});

test("classifyRefusal() names the PodDisruptionBudget that refuses", () => {
	const message = "Cannot evict pod as it would violate the pod's disruption budget.";
	const which = "The disruption budget db needs 2 healthy pods and has 2 currently";
	const causes = [{ reason: "DisruptionBudget", message: which, field: "" }];
	expect(classifyRefusal(new ApiError(message, { code: 429, causes }))).toEqual({
		kind: "refused",
		refusal: { kind: "blocked", message: `${message} ${which}`, reason: "DisruptionBudget" },
	});
});

test("readApiError() keeps causes and Retry-After", () => {
	const body = status({
		message: "m",
		reason: "TooManyRequests",
		details: { causes: [{ reason: "DisruptionBudget", message: "needs 2" }] },
	});
	const error = readApiError(429, body, "10");
	expect(error.retryAfterSeconds).toBe(10);
	expect(error.causes).toEqual([{ reason: "DisruptionBudget", message: "needs 2", field: "" }]);
});
