// -o json of a run: one JSON object a line, as schemas/events-v1.json publishes them. The first line is "version", the
// last one "summary", `seq` has no gaps. The reader beside the plain lines: it knows nothing but the events.
import { clientVersion } from "../client-version.ts";
import type { EventSink, NodeName, PodEvent, RunCommand, RunEvent, RunSummary, UsedBy } from "../events.ts";
import type { TextSink } from "../streams.ts";
import { fitLine } from "./fit-line.ts";
import { Repeats } from "./repeats.ts";

export interface NdjsonOptions {
	readonly stdout: TextSink;
	readonly command: RunCommand;
	readonly op?: string;
	/** Monotonic milliseconds. */
	readonly now: () => number;
	/** Milliseconds since the epoch. */
	readonly wallClock: () => number;
}

export const eventsSchema = "xpdb.events/1.0";

/** A wait that goes on as it was. */
const repeatAfterMs = 60_000;

type Fields = Readonly<Record<string, unknown>>;

export function createNdjsonWriter({ stdout, command, op, now, wallClock }: NdjsonOptions): EventSink {
	const waits = new Repeats(repeatAfterMs, now);
	let seq = 0;
	/** Until the agents are known, which the first line names. */
	let early: RunEvent[] | undefined = [];
	const put = (fields: Fields): void => {
		stdout.write(`${fitLine({ ...fields, ts: new Date(wallClock()).toISOString(), seq })}\n`);
		seq += 1;
	};
	const begin = (agents: Readonly<Record<string, string>>): void => {
		const id = op === undefined ? {} : { op };
		put({ type: "version", schema: eventsSchema, client: clientVersion, command, agents, ...id });
		for (const event of early ?? []) tell(event);
		early = undefined;
	};
	const tell = (event: RunEvent): void => {
		if (isRepeated(event, waits)) return;
		const fields = publish(event);
		if (fields) put(fields);
	};
	return (event) => {
		if (early && event.type === "run.started") begin(event.agents);
		else if (early && event.type === "summary") begin({});
		if (early) early.push(event);
		else tell(event);
	};
}

/** What would be told at every look is told when it changes. */
function isRepeated(event: RunEvent, waits: Repeats): boolean {
	if (event.type === "pod.waiting") {
		const { reason, budget = "", message } = event;
		return !waits.isNews(subject(event), `${reason} ${budget} ${message}`);
	}
	if (event.type === "lease.waiting") {
		return !waits.isNews(`lease ${event.budget}`, `${event.cluster} ${event.holder} ${event.position}`);
	}
	if (event.type === "cluster.unreachable") return !waits.isNews(`cluster ${event.cluster}`, "unreachable");
	if (event.type === "pod.evicting") waits.forget(subject(event));
	if (event.type === "cluster.recovered") waits.forget(`cluster ${event.cluster}`);
	return false;
}

function subject({ context, namespace, pod }: PodEvent): string {
	return `pod ${context} ${namespace}/${pod}`;
}

/** Undefined where other events say it already: kubectl repeats itself at the end. */
function publish(event: RunEvent): Fields | undefined {
	switch (event.type) {
		case "run.started": {
			const { type, nodes, pods, dryRun } = event;
			return { type, nodes: nodes.map(nodePath), pods: pods.map(withPod), ...dry(dryRun) };
		}
		case "node.cordoned":
		case "node.uncordoned": {
			const { dryRun, ours: _, ...fields } = event;
			return { ...fields, ...dry(dryRun) };
		}
		case "node.drained": {
			const { dryRun, ...fields } = event;
			return { ...fields, ...dry(dryRun) };
		}
		case "node.warning":
			return { ...event, type: "diagnostic", level: "warning" };
		case "node.failed": {
			const { why, ...fields } = event;
			return { ...fields, message: why };
		}
		case "nodes.pending":
		case "run.failed":
			return undefined;
		case "pod.evicting": {
			const { dryRun, ...fields } = event;
			return { ...withPod(fields), ...dry(dryRun) };
		}
		case "pod.waiting":
			return { ...withPod(event), usedBy: event.usedBy.map(publishUsedBy) };
		case "pod.evicted":
			return withPod(event);
		case "pod.retrying":
		case "pod.accepted":
		case "pod.gone":
		case "pod.stopped":
		case "pod.skipped":
		case "pod.failed":
			return withPod(event);
		case "lease.waiting":
			return { ...event, heldForMs: Math.round(event.heldForMs), reason: "LeaseHeld" };
		case "cluster.unreachable":
			return { ...event, elapsedMs: Math.round(event.elapsedMs), reason: "PeerUnreachable" };
		case "cluster.recovered":
			return { ...event, elapsedMs: Math.round(event.elapsedMs) };
		case "lease.acquired":
			return { ...event, waitedMs: Math.round(event.waitedMs) };
		case "lease.released":
		case "lease.lost":
			return { ...event, heldMs: Math.round(event.heldMs) };
		case "plan":
		case "budget.changed":
		case "node.cordonFailed":
		case "diagnostic":
		case "progress":
		case "interrupted":
			return { ...event };
		case "summary":
			return publishSummary(event);
	}
}

function publishSummary(summary: RunSummary): Fields {
	const { interrupted, drained, notDrained, cordoned, uncordoned, longestWaitMs, ...fields } = summary;
	return {
		...fields,
		result: interrupted ? "interrupted" : fields.exitCode === 0 ? "done" : "failed",
		drained: drained.map(nodePath),
		notDrained: notDrained.map(({ reason, message, ...node }) => ({ node: nodePath(node), reason, message })),
		cordoned: cordoned.map(nodePath),
		uncordoned: uncordoned.map(nodePath),
		longestWaitMs: Math.round(longestWaitMs),
	};
}

/** As commands take it; there is no name for the cluster that a pod runs in. */
function nodePath({ context, node }: NodeName): string {
	return context === "" ? node : `${context}/${node}`;
}

type PodFields = PodEvent & { readonly type?: string; readonly waitedMs?: number; readonly elapsedMs?: number };

function withPod(event: PodFields): Fields {
	const { type, context, namespace, pod, waitedMs, elapsedMs, ...fields } = event;
	return {
		...(type !== undefined && { type }),
		context,
		pod: `${namespace}/${pod}`,
		...fields,
		...(waitedMs !== undefined && { waitedMs: Math.round(waitedMs) }),
		...(elapsedMs !== undefined && { elapsedMs: Math.round(elapsedMs) }),
	};
}

function publishUsedBy({ namespace, pod, sinceSeconds, ...used }: UsedBy): Fields {
	const since = new Date((sinceSeconds ?? Number.NaN) * 1_000);
	// Somebody else's clock wrote it: it may be no date at all.
	const isDate = Number.isFinite(since.getTime());
	return { ...used, pod: `${namespace}/${pod}`, ...(isDate && { since: since.toISOString() }) };
}

function dry(dryRun: "none" | "client" | "server"): Fields {
	return dryRun === "none" ? {} : { dryRun };
}
