import { describe, expect, test } from "vitest";
import type { AuditEvent, AuditObject } from "../../demo/audit/audit.ts";
import { evictionTimes, judge, operator } from "./judge.ts";
import { database, namespace, type Workload, web } from "./workload.ts";

const second = 1_000_000;

interface Change {
	readonly at: number;
	readonly pod: string;
	readonly what: "ready" | "evicted" | "deleted";
	readonly user?: string;
	readonly code?: number;
}

let versions = 0;

function eventOf(workload: Workload, { at, pod, what, user = operator, code }: Change): AuditEvent {
	const object: AuditObject = {
		kind: "Pod",
		metadata: {
			name: pod,
			namespace,
			uid: `uid-${pod}`,
			resourceVersion: String(++versions),
			labels: { app: workload.name },
		},
		status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
	};
	return {
		cluster: "c1",
		receivedAt: at * second,
		completedAt: at * second,
		verb: { ready: "patch", evicted: "create", deleted: "delete" }[what],
		resource: { ready: "pods/status", evicted: "pods/eviction", deleted: "pods" }[what],
		namespace,
		name: pod,
		user: what === "ready" ? "system:node:c1-n0" : user,
		groups: [],
		code: code ?? (what === "evicted" ? 201 : 200),
		dryRun: false,
		request: undefined,
		response: what === "evicted" ? { kind: "Status" } : object,
	};
}

/** Returns a history in which all pods of the workload are ready at second 0, before these changes. */
function history(workload: Workload, changes: readonly Change[]): readonly AuditEvent[] {
	const pods = Array.from({ length: workload.replicas * 3 }, (_, index) => `${workload.name}-${index}`);
	const ready = pods.map((pod): Change => ({ at: 0, pod, what: "ready" }));
	return [...ready, ...changes].map((change) => eventOf(workload, change));
}

describe("judge()", () => {
	test("one pod of the database at a time is what the budget allows", () => {
		const events = history(database, [
			{ at: 1, pod: "db-0", what: "evicted" },
			{ at: 2, pod: "db-0-again", what: "ready" },
			{ at: 3, pod: "db-1", what: "evicted" },
		]);
		expect(judge(events, database, 3)).toMatchObject({ evictions: 2, violations: [], deepest: 0 });
	});

	test("a second one while the first is down is a violation", () => {
		const events = history(database, [
			{ at: 1, pod: "db-0", what: "evicted" },
			{ at: 2, pod: "db-1", what: "evicted" },
		]);
		expect(judge(events, database, 3)).toMatchObject({ violations: [{ pod: "db-1", healthy: 4 }], deepest: -1 });
	});

	test("whoever else takes a pod of the database is a violation, too", () => {
		const events = history(database, [
			{ at: 1, pod: "db-0", what: "evicted" },
			{ at: 2, pod: "db-1", what: "deleted", user: "mallory" },
		]);
		expect(judge(events, database, 3).violations).toHaveLength(1);
	});

	const down = (count: number, from: number, user?: string): readonly Change[] =>
		Array.from({ length: count }, (_, index) => ({
			at: from + index,
			pod: `web-${index}`,
			what: "evicted",
			...(user !== undefined && { user }),
		}));

	test("evictions of others past the budget are not ours", () => {
		expect(judge(history(web, down(5, 1, "mallory")), web, 3)).toMatchObject({
			evictions: 0,
			violations: [],
			deepest: -2,
		});
	});

	test("ours just after one of others may rest on an earlier count", () => {
		const events = history(web, [
			...down(3, 1),
			{ at: 10, pod: "web-9", what: "evicted", user: "mallory" },
			{ at: 11, pod: "web-10", what: "evicted" },
		]);
		expect(judge(events, web, 3).violations.map(({ pod }) => pod)).toEqual(["web-10"]);
		const others = history(web, [
			...down(2, 1),
			{ at: 10, pod: "web-9", what: "evicted", user: "mallory" },
			{ at: 11, pod: "web-10", what: "evicted" },
		]);
		expect(judge(others, web, 3).violations).toEqual([]);
	});

	test("ours long after one of others must have counted it", () => {
		const events = history(web, [...down(3, 1, "mallory"), { at: 60, pod: "web-10", what: "evicted" }]);
		expect(judge(events, web, 3).violations.map(({ pod }) => pod)).toEqual(["web-10"]);
	});

	test("counts only what the API servers accepted", () => {
		const events = history(database, [
			{ at: 1, pod: "db-0", what: "evicted" },
			{ at: 2, pod: "db-1", what: "evicted", code: 409 },
		]);
		expect(judge(events, database, 3)).toMatchObject({ evictions: 1, violations: [] });
		expect(evictionTimes(events)).toEqual([second]);
	});
});
