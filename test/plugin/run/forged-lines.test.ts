// Tests that foreign texts never begin a line of their own, wherever an error quotes them.
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { ApiError, ConnectionError, readApiError } from "../../../plugin/kubernetes/api-error.ts";
import { resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { describeError } from "../../../plugin/run/report-error.ts";
import { FleetUncoveredError, KubeconfigError, UsageError } from "../../../plugin/terminal/errors.ts";
import { errorOfStatus } from "../../../proto/status.ts";
import { readBudgetName, readPodReference } from "../../../proto/wire.ts";
import { readDescription } from "../../../proto/wire-description.ts";

const forged = "no\nerror: forged\r\nnode/n1 drained\rpod/web-0 evicted";

function linesOf(error: unknown): readonly string[] {
	return describeError(error, []).lines.flatMap((line) => line.split(/\r\n?|\n/));
}

function answered(details: string, trailers: Readonly<Record<string, string>>): Error {
	const metadata = new Metadata();
	for (const [key, value] of Object.entries(trailers)) metadata.set(key, encodeURIComponent(value));
	const error: ServiceError = Object.assign(new Error(details), { code: status.UNAVAILABLE, details, metadata });
	return errorOfStatus(error, { cluster: "eu", call: "Describe" });
}

describe("an error that quotes others has one line that is not indented:", () => {
	const rows: Readonly<Record<string, Error>> = {
		"an API server's message": new ApiError(forged, { code: 403, reason: forged }),
		"an API server's Status": readApiError(
			422,
			JSON.stringify({ kind: "Status", message: forged, reason: forged, details: { causes: [{ message: forged }] } }),
			undefined,
		),
		"an answer that is no Status": readApiError(500, forged, undefined),
		"why there is no connection": new ConnectionError("https://eu", new Error(forged)),
		"what an agent says": answered(forged, { "xpdb-reason": "AgentUnavailable", "xpdb-cluster": forged }),
		"what an agent says without a reason of ours": answered(forged, {}),
		"a cluster's name": new AgentUnavailableError(`cannot reach "${forged}"`, forged),
		"what was lost": new LeaseLostError(forged),
		"members that cannot be reached": new FleetUncoveredError("cannot reach all", [`eu: ${forged}`]),
		"an answer in a sentence of ours": new UsageError(
			`eu: cannot read it: ${new ApiError(forged, { code: 403 }).message}`,
		),
	};
	for (const [name, error] of Object.entries(rows)) {
		test(name, () => {
			const [first, ...more] = linesOf(error);
			expect(first).toMatch(/^(?:error|Error from server|Unable to connect)/i);
			expect(more.filter((line) => !line.startsWith("  "))).toEqual([]);
		});
	}

	test("and no line of a member looks like another member's", () => {
		const [, ...details] = linesOf(new FleetUncoveredError("cannot reach all", [`eu: ${forged}`, "us: away"]));
		expect(details.filter((line) => /^ {2}\S/.test(line))).toEqual(["  eu: no", "  us: away"]);
	});

	test("the lines of kubectl's and of our own messages stay as they are", () => {
		expect(linesOf(new KubeconfigError("Error in configuration: \n* a\n* b"))).toEqual([
			"Error in configuration: ",
			"* a",
			"* b",
		]);
		expect(linesOf(new UsageError("a\nb", "c"))).toEqual(["error: a", "b", "c"]);
	});
});

test("a context, cluster or user whose name has control characters is refused", () => {
	const bad = "eu\nerror: forged";
	const entry = { server: "https://127.0.0.1:1" };
	const rows = [
		{ name: bad, context: { cluster: "c", user: "u" } },
		{ name: "ok", context: { cluster: bad, user: "u" } },
		{ name: "ok", context: { cluster: "c", user: bad } },
	];
	for (const { name, context } of rows) {
		const kubeconfig = {
			clusters: new Map([
				["c", entry],
				[bad, entry],
			]),
			users: new Map(),
			contexts: new Map([[name, context]]),
			currentContext: name,
			ownCluster: undefined,
		};
		const resolve = () => resolveConnection(kubeconfig, undefined, readGlobalFlags({}), {});
		expect(resolve).toThrow(/^error: the name of \w+ "eu\\nerror: forged" contains control characters: rename it/);
	}
});

test("a certificate's path in a kubeconfig stays on its line", () => {
	const kubeconfig = {
		clusters: new Map([["c", { server: "https://127.0.0.1:1", "certificate-authority": "/nope\nerror: forged" }]]),
		users: new Map(),
		contexts: new Map([["eu", { cluster: "c", user: "u" }]]),
		currentContext: "eu",
		ownCluster: undefined,
	};
	expect(() => resolveConnection(kubeconfig, undefined, readGlobalFlags({}), {})).toThrow(/^[^\n]*$/);
});

test("names in an agent's description stay on their line", () => {
	const member = { id: forged, name: forged, address: forged };
	const description = readDescription({
		clusterId: forged,
		clusterName: forged,
		version: forged,
		features: [forged],
		members: [member],
		unresolved: [member],
		forgotten: [member],
		fleetHash: "f",
		leaseNamespace: forged,
		heard: [],
		certificates: undefined,
		clockMs: undefined,
		budgets: undefined,
		others: [],
	});
	expect(JSON.stringify(Object.values(description))).not.toMatch(/[^\\]\\[nr]/);
});

test("a budget or a pod of a name that no object has is not read", () => {
	const bad = { namespace: "shop", name: "db\nerror: forged", uid: "1" };
	expect(() => readBudgetName(bad, "budgets[0].name")).toThrow(
		"budgets[0].name.name has characters that are not allowed in names",
	);
	expect(() => readPodReference(bad, "pod")).toThrow("pod.name has characters that are not allowed in names");
	expect(readBudgetName({ namespace: "shop", name: "db" }, "budget")).toEqual({ namespace: "shop", name: "db" });
});
