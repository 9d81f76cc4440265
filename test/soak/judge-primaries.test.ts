import { describe, expect, test } from "vitest";
import type { AuditEvent, AuditObject } from "../../demo/audit/audit.ts";
import { operator } from "./judge.ts";
import { evictedPrimaries } from "./judge-primaries.ts";
import { elected, namespace, primary } from "./workload.ts";

const common = { cluster: "c1", namespace, name: "pg-0", groups: [], dryRun: false };

interface Written {
	readonly at: number;
	readonly version: number;
	readonly role?: string;
	readonly terminating?: boolean;
}

function written({ at, version, role, terminating = false }: Written): AuditEvent {
	const response: AuditObject = {
		kind: "Pod",
		metadata: {
			name: "pg-0",
			uid: "u0",
			resourceVersion: String(version),
			labels: { app: elected.name, ...(role !== undefined && { role }) },
			...(terminating && { deletionTimestamp: "2026-11-22T10:00:00Z" }),
		},
	};
	const what = { verb: "patch", resource: "pods", user: "admin", code: 200, request: undefined };
	return { ...common, ...what, receivedAt: at, completedAt: at + 1, response };
}

function eviction(at: number, resourceVersion: string | undefined, change: Partial<AuditEvent> = {}): AuditEvent {
	const preconditions = { uid: "u0", ...(resourceVersion !== undefined && { resourceVersion }) };
	return {
		...common,
		verb: "create",
		resource: "pods/eviction",
		user: operator,
		code: 201,
		receivedAt: at,
		completedAt: at + 1,
		request: { deleteOptions: { preconditions } },
		response: { kind: "Status" },
		...change,
	};
}

describe("evictedPrimaries()", () => {
	const rows: readonly { readonly name: string; readonly events: readonly AuditEvent[]; readonly found: number }[] = [
		{
			name: "a replica may go",
			events: [written({ at: 1, version: 9, role: "replica" }), eviction(2, "9")],
			found: 0,
		},
		{ name: "a primary may not", events: [written({ at: 1, version: 9, role: primary }), eviction(2, "9")], found: 1 },
		{
			name: "versions of other lengths are numbers",
			events: [
				written({ at: 1, version: 9, role: "replica" }),
				written({ at: 2, version: 10, role: primary }),
				eviction(3, "10"),
			],
			found: 1,
		},
		{
			name: "what it became after the version that was evicted does not matter, whatever came first in the log",
			events: [
				written({ at: 1, version: 9, role: "replica" }),
				written({ at: 2, version: 11, role: primary }),
				eviction(3, "9"),
			],
			found: 0,
		},
		{
			name: "an eviction that names no version took whatever it was",
			events: [written({ at: 1, version: 9, role: "replica" }), eviction(2, undefined)],
			found: 1,
		},
		{
			name: "of a pod that was terminating the version does not matter",
			events: [written({ at: 1, version: 9, terminating: true }), eviction(5, undefined)],
			found: 0,
		},
		{
			name: "a second eviction of the same pod takes nothing",
			events: [
				written({ at: 1, version: 9 }),
				eviction(2, "9"),
				written({ at: 4, version: 10, role: primary }),
				eviction(5, "10"),
			],
			found: 0,
		},
		{
			name: "refusals and others' evictions are not ours",
			events: [
				written({ at: 1, version: 9, role: primary }),
				eviction(2, "9", { code: 409 }),
				eviction(3, "9", { user: "admin" }),
				eviction(4, "9", { dryRun: true }),
			],
			found: 0,
		},
	];
	for (const { name, events, found } of rows) {
		test(name, () => expect(evictedPrimaries(events)).toHaveLength(found));
	}
});
