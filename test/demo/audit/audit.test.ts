import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findAuditEvent, readTimeline } from "../../../demo/audit/audit.ts";
import { findViolations, replayAvailability, worstUnavailable } from "../../../demo/audit/availability.ts";

type Line = {
	readonly at: number;
	/** How long the request took. The change happened during that time. */
	readonly tookMs?: number;
	readonly cluster?: string;
	readonly verb?: string;
	readonly resource?: string;
	readonly pod: string;
	readonly uid?: string;
	readonly version?: number;
	readonly ready?: boolean;
	readonly terminating?: boolean;
	readonly labels?: Record<string, string>;
	readonly user?: string;
	readonly code?: number;
	readonly dryRun?: boolean;
	readonly request?: unknown;
};

function timestamp(milliseconds: number): string {
	return new Date(Date.UTC(2026, 10, 20) + milliseconds).toISOString().replace("Z", "456Z");
}

function lineOf(line: Line): string {
	const resource = line.resource ?? "pods/status";
	const [kind, subresource] = resource.split("/");
	const isEviction = subresource === "eviction";
	const pod = {
		kind: "Pod",
		metadata: {
			name: line.pod,
			namespace: "web",
			uid: line.uid ?? `uid-${line.pod}`,
			resourceVersion: String(line.version ?? line.at + 1),
			labels: line.labels ?? { app: "db" },
			...(line.terminating === true ? { deletionTimestamp: timestamp(line.at) } : {}),
		},
		status: { phase: "Running", conditions: [{ type: "Ready", status: line.ready === true ? "True" : "False" }] },
	};
	return JSON.stringify({
		stage: "ResponseComplete",
		verb: line.verb ?? (isEviction ? "create" : "patch"),
		requestURI: `/api/v1/namespaces/web/pods${line.dryRun === true ? "?dryRun=All" : ""}`,
		user: { username: line.user ?? "alice", groups: ["system:authenticated"] },
		objectRef: {
			resource: kind,
			...(subresource === undefined ? {} : { subresource }),
			namespace: "web",
			name: line.pod,
		},
		responseStatus: { code: line.code ?? (isEviction ? 201 : 200) },
		...(line.request === undefined ? {} : { requestObject: line.request }),
		responseObject: isEviction ? { kind: "Status", status: "Success" } : pod,
		requestReceivedTimestamp: timestamp(line.at - (line.tookMs ?? 0)),
		stageTimestamp: timestamp(line.at),
	});
}

function replay(lines: readonly Line[], expected: number) {
	const events = lines
		.map((line) => findAuditEvent(lineOf(line), line.cluster ?? "c1"))
		.filter((event) => event !== undefined)
		.toSorted((a, b) => a.completedAt - b.completedAt);
	return replayAvailability(events, { namespace: "web", matchLabels: { app: "db" }, expected });
}

const twoReady: readonly Line[] = [
	{ at: 0, pod: "db-0", ready: true },
	{ at: 1, pod: "db-1", cluster: "c2", ready: true },
];
const evict = (at: number, pod: string, more: Partial<Line> = {}): Line => ({
	at,
	pod,
	resource: "pods/eviction",
	...more,
});

const rows: readonly {
	readonly name: string;
	readonly lines: readonly Line[];
	readonly worst: number;
	readonly violations: readonly string[];
}[] = [
	{ name: "nothing is down while nothing happens", lines: [], worst: 0, violations: [] },
	{ name: "one eviction is within the budget", lines: [evict(10, "db-0")], worst: 1, violations: [] },
	{
		name: "evictions in two clusters at once are a violation",
		lines: [evict(10, "db-0"), evict(11, "db-1", { cluster: "c2" })],
		worst: 2,
		violations: ["db-1"],
	},
	{
		name: "a delete counts like an eviction",
		lines: [
			evict(10, "db-0"),
			{ at: 11, pod: "db-1", cluster: "c2", resource: "pods", verb: "delete", ready: true, terminating: true },
		],
		worst: 2,
		violations: ["db-1"],
	},
	{
		name: "an eviction is fine again when the replacement is ready",
		lines: [
			evict(10, "db-0"),
			{ at: 20, pod: "db-0", uid: "second", resource: "pods", verb: "create" },
			{ at: 30, pod: "db-0", uid: "second", ready: true },
			evict(31, "db-1", { cluster: "c2" }),
		],
		worst: 1,
		violations: [],
	},
	{
		name: "a replacement that is not ready yet is still missing",
		lines: [
			evict(10, "db-0"),
			{ at: 20, pod: "db-0", uid: "second", resource: "pods", verb: "create" },
			evict(21, "db-1", { cluster: "c2" }),
		],
		worst: 2,
		violations: ["db-1"],
	},
	{
		name: "a pod that fails on its own is no violation, an eviction while it is down is one",
		lines: [{ at: 10, pod: "db-0", ready: false }, evict(20, "db-1", { cluster: "c2" })],
		worst: 2,
		violations: ["db-1"],
	},
	{
		name: "a pod that fails while another is evicted is bad luck",
		lines: [evict(10, "db-1", { cluster: "c2" }), { at: 20, pod: "db-0", ready: false }],
		worst: 2,
		violations: [],
	},
	{
		name: "a lost node is bad luck too",
		lines: [
			evict(10, "db-1", { cluster: "c2" }),
			{
				at: 20,
				pod: "db-0",
				resource: "pods",
				verb: "delete",
				ready: true,
				terminating: true,
				user: "system:serviceaccount:kube-system:taint-eviction-controller",
			},
		],
		worst: 2,
		violations: [],
	},
	{ name: "a refused eviction changes nothing", lines: [evict(10, "db-0", { code: 429 })], worst: 0, violations: [] },
	{ name: "a dry run changes nothing", lines: [evict(10, "db-0", { dryRun: true })], worst: 0, violations: [] },
	{
		name: "a dry run in the body changes nothing",
		lines: [evict(10, "db-0", { request: { deleteOptions: { dryRun: ["All"] } } })],
		worst: 0,
		violations: [],
	},
	{
		name: "an eviction of a pod that is going already takes nothing away",
		lines: [evict(10, "db-0"), evict(12, "db-0")],
		worst: 1,
		violations: [],
	},
	{
		name: "pods with other labels do not matter",
		lines: [{ at: 5, pod: "other", ready: true, labels: { app: "web" } }, evict(10, "other")],
		worst: 0,
		violations: [],
	},
	{
		name: "an answer that comes late does not bring back an older state",
		lines: [
			{ at: 10, pod: "db-0", ready: false, version: 500 },
			{ at: 12, pod: "db-0", ready: true, version: 400 },
		],
		worst: 1,
		violations: [],
	},
	{
		name: "a terminating pod is not healthy although it says Ready",
		lines: [
			evict(10, "db-0"),
			{ at: 12, pod: "db-0", ready: true, terminating: true },
			evict(20, "db-1", { cluster: "c2" }),
		],
		worst: 2,
		violations: ["db-1"],
	},
	{
		// The agent saw the pod become ready before the kubelet got its answer.
		name: "readiness counts from the arrival of its request",
		lines: [
			{ at: 10, pod: "db-0", ready: false, version: 20 },
			{ at: 40, tookMs: 20, pod: "db-0", ready: true, version: 30 },
			evict(30, "db-1", { cluster: "c2" }),
		],
		worst: 1,
		violations: [],
	},
	{
		name: "an eviction that names the uid of the old pod does not hit its successor",
		lines: [
			{ at: 5, pod: "db-0", uid: "second", ready: true },
			evict(10, "db-0", { request: { deleteOptions: { preconditions: { uid: "uid-db-0" } } } }),
		],
		worst: 0,
		violations: [],
	},
];

describe("replayAvailability()", () => {
	for (const { name, ...row } of rows) {
		test(name, () => {
			const samples = replay([...twoReady, ...row.lines], 2);
			expect(worstUnavailable(samples)).toBe(row.worst);
			expect(findViolations(samples, { maxUnavailable: 1 }).map((sample) => sample.pod)).toEqual(row.violations);
		});
	}

	test("tells who did it, where and when", () => {
		const samples = replay([...twoReady, evict(10, "db-0")], 2);
		expect(samples.at(-1)).toEqual({
			at: Date.UTC(2026, 10, 20) * 1000 + 10_456,
			cluster: "c1",
			pod: "db-0",
			uid: "uid-db-0",
			change: "evicted",
			user: "alice",
			disruption: true,
			healthy: 1,
			unavailable: 1,
		});
	});

	test("never saw all pods healthy: the worst is not a number that passes", () => {
		expect(worstUnavailable(replay(twoReady, 3))).toBe(Infinity);
	});
});

test("readTimeline() merges all clusters, rotated files and a line that is still being written", async () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-audit-"));
	try {
		const path = (name: string) => join(folder, name);
		writeFileSync(path("audit-2026-11-20T00-00-00.000.jsonl"), `${lineOf({ at: 0, pod: "a" })}\n`);
		writeFileSync(path("audit.jsonl"), `${lineOf({ at: 20, pod: "c" })}\n{"kind":"Event","sta`);
		writeFileSync(path("other.jsonl"), `${lineOf({ at: 10, pod: "b" })}\n`);
		const events = await readTimeline([
			{ name: "c1", auditLog: path("audit.jsonl") },
			{ name: "c2", auditLog: path("other.jsonl") },
		]);
		expect(events.map((event) => [event.cluster, event.name])).toEqual([
			["c1", "a"],
			["c2", "b"],
			["c1", "c"],
		]);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
