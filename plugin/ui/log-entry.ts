// Formats the events that users may want to read afterwards. Waits have their own rows.
import { oneLine } from "../../disruption/printable.ts";
import type { PodEvent, RunEvent } from "../events/events.ts";
import { formatElapsed } from "../flags/duration.ts";
import { counted } from "../terminal/counted.ts";

export interface LogEntry {
	/** In ms since the epoch. */
	readonly at: number;
	/** "" if the entry does not belong to one context of the run. */
	readonly context: string;
	readonly text: string;
	readonly level: "info" | "good" | "warning" | "error";
}

/** `acceptedAt`: when the pod's eviction was accepted, if this run saw it. */
export function logEntry(event: RunEvent, at: number, acceptedAt?: number): LogEntry | undefined {
	const tell = (context: string, text: string, level: LogEntry["level"] = "info"): LogEntry => ({
		at,
		context,
		text: oneLine(text),
		level,
	});
	switch (event.type) {
		case "node.cordoned":
			return tell(event.context, `node/${event.node} ${event.already ? "already " : ""}cordoned`);
		case "node.draining":
			return tell(event.context, `node/${event.node} draining, ${counted(event.pods, "pod")}`);
		case "node.drained":
			return tell(event.context, `node/${event.node} drained`, "good");
		case "node.failed":
			return tell(event.context, `node/${event.node} not drained: ${event.why}`, "error");
		case "node.cordonFailed":
			return tell(event.context, `node/${event.node} could not be cordoned: ${event.message}`, "error");
		case "node.warning":
			return tell(event.context, `Warning: ${event.message}`, "warning");
		case "pod.accepted":
			return tell(event.context, `${nameOf(event)} eviction accepted`);
		case "pod.evicted":
			// Counts from the acceptance, which the log shows too, if this run saw it.
			return tell(
				event.context,
				`${nameOf(event)} gone after ${formatElapsed(acceptedAt === undefined ? event.elapsedMs : at - acceptedAt)}`,
				"good",
			);
		case "pod.skipped":
			return tell(event.context, event.message);
		case "pod.failed":
			return tell(event.context, `${nameOf(event)} failed: ${event.message}`, "error");
		case "lease.lost":
			return tell("", `the Lease of ${event.budget} in cluster ${event.cluster} was lost: ${event.message}`, "warning");
		case "cluster.unreachable":
			// Only the first report of an outage gets an entry. It uses the cluster's name in the fleet, because the run may have no context for
			// it.
			if (event.elapsedMs > 50) return undefined;
			return tell("", `cluster ${event.cluster} gives no answer: ${event.message}`, "warning");
		case "cluster.recovered":
			return tell("", `cluster ${event.cluster} answers again after ${formatElapsed(event.elapsedMs)}`, "good");
		case "diagnostic":
			return tell(event.context ?? "", event.message, event.level);
		case "login.ended": {
			const [context = "", ...more] = event.contexts;
			const where = more.length === 0 ? context : "";
			if (event.message !== undefined)
				return tell(where, `login with ${event.command} failed: ${event.message}`, "error");
			return tell(where, `logged in with ${event.command} after ${formatElapsed(event.elapsedMs)}`);
		}
		case "paused":
			return tell("", "paused: no new evictions", "warning");
		case "resumed":
			return tell("", `resumed after ${formatElapsed(event.pausedMs)}`);
		case "interrupted":
			return tell("", `stopping: no new evictions, ${event.accepted} already accepted will finish`, "warning");
		case "budget.notRecovered":
			return tell("", event.message, "warning");
		case "budget.changed":
		case "budget.unknown":
		case "lease.acquired":
		case "lease.released":
		case "lease.waiting":
		case "login.started":
		case "node.uncordoned":
		case "nodes.pending":
		case "plan":
		case "pod.evicting":
		case "pod.gone":
		case "pod.retrying":
		case "pod.stopped":
		case "pod.waiting":
		case "progress":
		case "budget.suspended":
		case "budget.unsuspended":
		case "budget.suspendFailed":
		case "budget.takenBack":
		case "run.failed":
		case "run.started":
		case "summary":
			return undefined;
	}
}

function nameOf({ namespace, pod }: PodEvent): string {
	return `${namespace}/${pod}`;
}
