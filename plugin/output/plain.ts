// Prints events as plain lines. With one context, lines that kubectl prints too are exactly kubectl's. With several, lines begin with their
// context. Results go to stdout, everything else to stderr.
import type { EventSink, MemberAgent, PodEvent, RunEvent, WaitSum } from "../events/events.ts";
import { usedByKey, usedByNames, usedBySuffix, usedByText } from "../events/used-by-text.ts";
import { formatElapsed } from "../flags/duration.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { counted } from "../terminal/counted.ts";
import type { Streams, TextSink } from "../terminal/streams.ts";
import { dryRunSuffix } from "./dry-run-suffix.ts";
import { fixCommand } from "./fix-command.ts";
import { flatEvent } from "./flat-event.ts";
import { Crowds, Holders, podSubject, Repeats, repeatAfterMs } from "./repeats.ts";
import { summaryLines } from "./summary.ts";
import { suspensionLine } from "./suspension-line.ts";

export interface PlainOptions {
	readonly streams: Pick<Streams, "stdout" | "stderr">;
	readonly contexts: readonly string[];
	readonly suggest: SuggestedCommands;
	/** Prints the summary even with one context. */
	readonly sums?: boolean;
	/** In monotonic ms. */
	readonly now: () => number;
	/** In ms since the epoch. */
	readonly wallClock: () => number;
}

/** Leases are normally held for a few round trips. Only a longer hold is worth a line. */
const longHoldMs = 3_000;
/** Of a context's pods that wait for one budget, at most this many are printed per minute. The progress line counts all of them. */
const maxWaitingShown = 5;
const maxWaitsShown = 3;
const shortOutageMs = 2_000;
const levelPrefixes = { error: "error: ", warning: "Warning: ", info: "" } as const;

export function createPlainWriter(options: PlainOptions): EventSink {
	const { streams, contexts, suggest, sums = false, now, wallClock } = options;
	let members: readonly MemberAgent[] = [];
	const { stdout, stderr } = streams;
	const waits = new Repeats(repeatAfterMs, now);
	const crowds = new Crowds(repeatAfterMs, now);
	const holders = new Holders(now);
	/** By budget: the pods whose last printed line says that they wait for it. */
	const shown = new Map<string, Set<string>>();
	const seen = new Set<string>();
	const width = Math.max(...contexts.map((name) => name.length), 0);
	const several = contexts.length > 1;
	const prefix = (context: string | undefined): string =>
		several && context !== undefined ? `${context.padEnd(width)}  ` : "";
	const line = (sink: TextSink, context: string, text: string): void => sink.write(`${prefix(context)}${text}\n`);
	const named = (context: string, name: string): string => (several ? `${context}/${name}` : name);

	function write(event: RunEvent): void {
		switch (event.type) {
			case "run.started":
				members = event.members;
				return;
			case "node.cordoned":
			case "node.uncordoned": {
				const verb = event.type === "node.cordoned" ? "cordoned" : "uncordoned";
				const text = `node/${event.node} ${event.already ? "already " : ""}${verb}${dryRunSuffix(event.dryRun)}`;
				return line(stdout, event.context, text);
			}
			case "node.cordonFailed": {
				const verb = event.uncordon ? "uncordon" : "cordon";
				return line(stderr, event.context, `error: unable to ${verb} node "${event.node}": ${event.message}`);
			}
			case "budget.suspended":
			case "budget.unsuspended":
			case "budget.suspendFailed":
			case "budget.takenBack": {
				const { out, err } = suspensionLine(event);
				return out === undefined ? line(stderr, event.context, err) : line(stdout, event.context, out);
			}
			case "node.warning":
				return line(stderr, event.context, `Warning: ${event.message}`);
			case "node.drained":
				return line(stdout, event.context, `node/${event.node} drained${dryRunSuffix(event.dryRun)}`);
			case "node.failed":
				return writeFailedNode(event);
			case "nodes.pending":
				stderr.write("There are pending nodes to be drained:\n");
				for (const { context, node } of event.nodes) stderr.write(` ${named(context, node)}\n`);
				return;
			case "run.failed":
				for (const error of event.errors) stderr.write(`${error}\n`);
				return;
			case "pod.evicting":
				waits.forget(podSubject(event));
				waitsNoMore(event);
				// kubectl prints nothing before it deletes a pod.
				if (event.deletes && event.dryRun === "none") return;
				return line(stdout, event.context, `evicting pod ${event.namespace}/${event.pod}${dryRunSuffix(event.dryRun)}`);
			case "pod.retrying":
				return line(stderr, event.context, event.message);
			case "pod.skipped":
				return line(stdout, event.context, event.message);
			case "pod.waiting":
				return writeWaiting(event);
			case "pod.evicted":
				return line(stdout, event.context, `pod/${event.pod} ${event.deletes ? "deleted" : "evicted"}`);
			case "pod.failed":
				// kubectl prints nothing for a pod that only takes long to terminate.
				if (event.accepted && event.reason !== "TimedOut") {
					line(stdout, event.context, `pod/${event.pod} ${event.deletes ? "deletion" : "eviction"} failed`);
				}
				waitsNoMore(event);
				// A drain reports the failure with the node. In a run of evict, no other line gives the reason.
				if (event.node === undefined) line(stderr, event.context, event.message);
				if (event.reason === "MultipleBudgets") writeSelecting(event);
				return;
			case "paused": {
				const rest = event.accepted > 0 ? ` ${event.accepted} already accepted will finish.` : "";
				stderr.write(`Paused: no new evictions.${rest}\n`);
				return;
			}
			case "resumed":
				stderr.write(`Resumed after ${formatElapsed(event.pausedMs)}.\n`);
				return;
			case "pod.gone":
			case "pod.stopped":
				return waitsNoMore(event);
			case "node.draining":
			case "pod.accepted":
			case "plan":
			case "budget.changed":
			case "budget.unknown":
			// The summary reports it.
			case "budget.notRecovered":
			case "lease.acquired":
			case "lease.released":
			case "lease.lost":
			// With several contexts, a line was printed before the login. With one, it is clear which context asks.
			case "login.started":
			case "login.ended":
				return;
			case "lease.waiting":
				if (event.heldForMs < longHoldMs || event.holder === "") return;
				if (!waits.isNews(`lease ${event.budget}`, `${event.holder} ${event.cluster}`)) return;
				stderr.write(
					`budget ${event.budget}: lease held by ${event.holder} in ${event.cluster} for ${formatElapsed(event.heldForMs)}, ` +
						`this run is number ${event.position} in line\n`,
				);
				return;
			case "cluster.unreachable":
				// An agent that moves, or a tunnel that is replaced, answers again immediately.
				if (event.elapsedMs < shortOutageMs || !waits.isNews(`cluster ${event.cluster}`, "unreachable")) return;
				stderr.write(
					`cluster ${event.cluster} gives no answer for ${formatElapsed(event.elapsedMs)}, ` +
						`nothing is evicted until it does: ${event.message}${seeMore(event)}\n`,
				);
				return;
			case "cluster.recovered":
				if (waits.forget(`cluster ${event.cluster}`)) {
					stderr.write(`cluster ${event.cluster} answers again after ${formatElapsed(event.elapsedMs)}\n`);
				}
				return;
			case "diagnostic":
				stderr.write(`${prefix(event.context)}${levelPrefixes[event.level]}${event.message}\n`);
				return;
			case "progress": {
				const nodes = event.nodesTotal > 0 ? `, ${event.nodesDone}/${event.nodesTotal} nodes` : "";
				const failed = event.failed > 0 ? `, ${event.failed} failed` : "";
				const terminating = event.terminating > 0 ? `, ${event.terminating} terminating` : "";
				const waiting = waitingText(event, wallClock());
				const done = event.podsDone - event.failed;
				stderr.write(`progress ${done}/${event.podsTotal} pods${nodes}${failed}${terminating}, ${waiting}\n`);
				return;
			}
			case "interrupted": {
				const rest =
					event.accepted > 0
						? ` ${counted(event.accepted, "pod")} already accepted will finish (up to ${event.graceSeconds}s).`
						: "";
				stderr.write(`Stopping: no new evictions.${rest} Press Ctrl-C again to exit now.\n`);
				return;
			}
			case "summary":
				for (const text of summaryLines(event, { several: several || sums })) stderr.write(`${text}\n`);
		}
	}

	function seeMore({ cluster, silent }: Extract<RunEvent, { type: "cluster.unreachable" }>): string {
		const context = members.find((member) => member.cluster === cluster)?.context;
		const see = context === undefined ? undefined : fixCommand("PeerUnreachable", { context, suggest, silent });
		return see === undefined ? "" : `; see ${see}`;
	}

	function writeWaiting(event: Extract<RunEvent, { type: "pod.waiting" }>): void {
		const { context, namespace, pod, budget = "", need, message, usedBy } = event;
		// The needed number changes only with the budget or the number of replicas. The healthy number changes all the time.
		const wanted = `${budget} ${need}`;
		const subject = podSubject(event);
		const users = usedByKey(usedBy);
		if (!waits.isNews(subject, `${event.reason} ${budget ? wanted : message}`)) return writeHolders(event, users);
		waitsNoMore(event);
		const told = budget === "" ? 0 : crowds.add(`${context} ${wanted}`);
		if (told > maxWaitingShown + 1) return;
		const verb = event.dryRun === undefined ? "" : "would ";
		if (told > maxWaitingShown) return line(stderr, context, `more pods ${verb}wait for budget ${budget}`);
		// All waiting pods have the same blockers, and the first line gave their details.
		const isSaid = told > 1 && holders.isKnown(budget, users);
		const by = isSaid ? usedByNames(usedBy) : usedByText(usedBy, { at: wallClock() });
		const reason = message.replace(`pod ${namespace}/${pod} `, "it ");
		line(
			stderr,
			context,
			`pod ${namespace}/${pod} ${verb === "" ? "waits" : "would wait"}: ${reason}${usedBySuffix(by)}`,
		);
		if (budget === "") return;
		if (!isSaid) holders.tell(budget, users);
		if (event.dryRun !== undefined) return;
		shown.set(budget, (shown.get(budget) ?? new Set()).add(subject));
	}

	/** Prints a change of a budget's blockers once for all waiting pods, while the output still says that one of them waits. */
	function writeHolders(event: Extract<RunEvent, { type: "pod.waiting" }>, key: string): void {
		const { budget = "", message, usedBy } = event;
		if (!shown.has(budget) || !holders.isNews(budget, key)) return;
		const by = usedByText(usedBy, { at: wallClock() });
		stderr.write(
			by === "" ? `${message}, and none of its pods is down now\n` : `budget ${budget} is now used by ${by}\n`,
		);
	}

	/** Prints the command that lists the PodDisruptionBudgets, because the API server does not name them. Once per namespace. */
	function writeSelecting({ context, namespace, pod, reason }: Extract<RunEvent, { type: "pod.failed" }>): void {
		const see = fixCommand(reason, { context, suggest, namespace });
		if (see === undefined || seen.has(see)) return;
		seen.add(see);
		line(stderr, context, `more than one PodDisruptionBudget selects pod ${namespace}/${pod}; see ${see}`);
	}

	function waitsNoMore(event: PodEvent): void {
		for (const [budget, pods] of shown) {
			pods.delete(podSubject(event));
			if (pods.size === 0) shown.delete(budget);
		}
	}

	function writeFailedNode({ context, node, errors, pending }: Extract<RunEvent, { type: "node.failed" }>): void {
		const text = aggregate(errors);
		if (pending.length > 0) {
			line(stderr, context, `There are pending pods in node "${node}" when an error occurred: ${text}`);
			for (const pod of pending) line(stderr, context, `pod/${pod}`);
		}
		line(stderr, context, `error: unable to drain node "${node}" due to error: ${text}, continuing command...`);
	}

	return (event) => write(flatEvent(event));
}

/** Like apimachinery's Aggregate: each message once, in brackets if there are several. */
export function aggregate(errors: readonly string[]): string {
	const unique = [...new Set(errors)];
	return unique.length === 1 ? (unique[0] ?? "") : `[${unique.join(", ")}]`;
}

/** For example "4 waiting for budget shop/cart (shop/cart-1 in c2: Pending 9m)". */
function waitingText(
	{ waiting, waits }: { readonly waiting: number; readonly waits: readonly WaitSum[] },
	at: number,
): string {
	const parts = waits.slice(0, maxWaitsShown).map(({ pods, reason, budget, usedBy }) => {
		const users = usedByText(usedBy, { at, most: 1, brief: true });
		const what = budget === undefined ? `for ${reason}` : `for budget ${budget}${users && ` (${users})`}`;
		return pods === waiting ? what : `${pods} ${what}`;
	});
	const [only] = parts;
	if (only === undefined) return `${waiting} waiting`;
	return waits[0]?.pods === waiting ? `${waiting} waiting ${only}` : `${waiting} waiting: ${parts.join(", ")}`;
}
