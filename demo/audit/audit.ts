import { createReadStream, readdirSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { createInterface } from "node:readline";

/**
 * One answered request from a cluster's audit log. Instants are in microseconds since 1970. All clusters share one machine's clock, so
 * their logs form one timeline.
 */
export type AuditEvent = {
	readonly cluster: string;
	readonly receivedAt: number;
	readonly completedAt: number;
	readonly verb: string;
	/** For example "pods", "pods/status", "pods/eviction" or "leases". */
	readonly resource: string;
	readonly namespace: string;
	readonly name: string;
	readonly user: string;
	readonly groups: readonly string[];
	readonly code: number;
	readonly dryRun: boolean;
	readonly request: AuditObject | undefined;
	readonly response: AuditObject | undefined;
};

export type AuditObject = {
	readonly kind?: string;
	readonly metadata?: {
		readonly name?: string;
		readonly namespace?: string;
		readonly uid?: string;
		readonly resourceVersion?: string;
		readonly labels?: Readonly<Record<string, string>>;
		readonly annotations?: Readonly<Record<string, string>>;
		readonly deletionTimestamp?: string;
	};
	readonly spec?: Readonly<Record<string, unknown>>;
	readonly status?: {
		readonly phase?: string;
		readonly conditions?: readonly { readonly type: string; readonly status: string }[];
	};
	readonly items?: readonly AuditObject[];
	readonly deleteOptions?: {
		readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
		readonly dryRun?: readonly string[];
	};
	readonly dryRun?: readonly string[];
};

type AuditLine = {
	stage: string;
	verb: string;
	requestURI: string;
	user?: { username?: string; groups?: string[] };
	objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
	responseStatus?: { code?: number };
	requestObject?: AuditObject;
	responseObject?: AuditObject;
	requestReceivedTimestamp: string;
	stageTimestamp: string;
};

export function findAuditEvent(line: string, cluster: string): AuditEvent | undefined {
	const entry = JSON.parse(line) as AuditLine;
	// Stage Panic has no reliable answer, and ResponseStarted only begins a stream.
	if (entry.stage !== "ResponseComplete") {
		return undefined;
	}
	const { objectRef, requestObject: request, responseObject: response } = entry;
	const dryRun = [request?.dryRun, request?.deleteOptions?.dryRun].some((value) => value?.includes("All") === true);
	return {
		cluster,
		receivedAt: microseconds(entry.requestReceivedTimestamp),
		completedAt: microseconds(entry.stageTimestamp),
		verb: entry.verb,
		resource: [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join("/"),
		namespace: objectRef?.namespace ?? "",
		// A create names its object only in the answer.
		name: objectRef?.name ?? response?.metadata?.name ?? "",
		user: entry.user?.username ?? "",
		groups: entry.user?.groups ?? [],
		code: entry.responseStatus?.code ?? 0,
		dryRun: dryRun || /[?&]dryRun=All\b/.test(entry.requestURI),
		request,
		response,
	};
}

/** Reads "2026-11-20T10:00:00.123456Z". A Date keeps only milliseconds, which two evictions can share. */
function microseconds(timestamp: string): number {
	const [, seconds, fraction] = /^(.*?)(?:\.(\d+))?Z$/.exec(timestamp) ?? [];
	return Date.parse(`${seconds}Z`) * 1000 + Number((fraction ?? "").padEnd(6, "0").slice(0, 6));
}

/** Reads the audit logs of clusters, with rotated files, in order of completion. `containing` skips lines without this text, for speed. */
export async function readTimeline(
	logs: readonly { readonly name: string; readonly auditLog: string }[],
	{ containing = "" }: { readonly containing?: string } = {},
): Promise<AuditEvent[]> {
	const events: AuditEvent[] = [];
	for (const log of logs) {
		for (const path of rotated(log.auditLog)) {
			for await (const line of createInterface({ input: createReadStream(path) })) {
				// The last line can be incomplete. Every complete line ends in a brace.
				const event = line.endsWith("}") && line.includes(containing) ? parseWhole(line, log.name) : undefined;
				if (event !== undefined) {
					events.push(event);
				}
			}
		}
	}
	return events.toSorted((a, b) => a.completedAt - b.completedAt);
}

function parseWhole(line: string, cluster: string): AuditEvent | undefined {
	try {
		return findAuditEvent(line, cluster);
	} catch (error) {
		if (error instanceof SyntaxError) {
			return undefined;
		}
		throw error;
	}
}

// The API server renames a full "audit.jsonl" to "audit-<time>.jsonl", so the names sort by age.
function rotated(path: string): string[] {
	const extension = extname(path);
	const stem = basename(path, extension);
	const older = readdirSync(dirname(path)).filter((name) => name.startsWith(`${stem}-`) && name.endsWith(extension));
	return [...older.toSorted().map((name) => join(dirname(path), name)), path];
}
