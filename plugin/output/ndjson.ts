// Prints a run as JSON lines (schemas/events-v1.json), from its events alone. The first line is "version", the last is "summary", and `seq`
// has no gaps.
import type { EventSink, MemberAgent, RunCommand, RunEvent } from "../events/events.ts";
import { usedByKey } from "../events/used-by-text.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { clientVersion } from "../kubernetes/client-version.ts";
import type { TextSink } from "../terminal/streams.ts";
import { fitLine } from "./fit-line.ts";
import { type Fields, PublishedEvents } from "./published-events.ts";
import { RemainingTime } from "./remaining-time.ts";
import { Holders, podSubject, Repeats, repeatAfterMs } from "./repeats.ts";

export interface NdjsonOptions {
	readonly stdout: TextSink;
	readonly command: RunCommand;
	readonly op?: string;
	/** As typed, without secrets. */
	readonly commandLine: string;
	/** The user who runs it, as user@host, according to the operating system. */
	readonly by: string;
	readonly suggest: SuggestedCommands;
	/** In monotonic ms. */
	readonly now: () => number;
	/** In ms since the epoch. */
	readonly wallClock: () => number;
}

export const eventsSchema = "xpdb.events/1.0";

export function createNdjsonWriter({
	stdout,
	command,
	op,
	commandLine,
	by,
	suggest,
	now,
	wallClock,
}: NdjsonOptions): EventSink {
	const told = { waits: new Repeats(repeatAfterMs, now), holders: new Holders(now) };
	const published = new PublishedEvents(suggest);
	const remaining = new RemainingTime();
	let seq = 0;
	/** Events that wait for the first line, which names the agents. */
	let early: RunEvent[] | undefined = [];
	const put = (fields: Fields): void => {
		stdout.write(`${fitLine({ ...fields, ts: new Date(wallClock()).toISOString(), seq })}\n`);
		seq += 1;
	};
	const begin = (members: readonly MemberAgent[]): void => {
		const id = op === undefined ? {} : { op };
		const agents = published.agents(members);
		put({ type: "version", schema: eventsSchema, client: clientVersion, command, commandLine, by, agents, ...id });
		for (const event of early ?? []) tell(event);
		early = undefined;
	};
	const tell = (event: RunEvent): void => {
		if (isRepeated(event, told)) return;
		const fields = published.publish(event);
		if (fields) put({ ...fields, ...etaOf(event) });
	};
	const etaOf = (event: RunEvent): Fields => {
		if (event.type === "plan") remaining.planned(event, now());
		const etaSeconds = event.type === "progress" ? remaining.after(event, now()) : undefined;
		return etaSeconds ? { etaSeconds } : {};
	};
	return (event) => {
		if (early && event.type === "run.started") begin(event.members);
		else if (early && event.type === "summary") begin([]);
		if (early) early.push(event);
		else tell(event);
	};
}

/** Repeated observations are printed only when they change, or once a minute. */
function isRepeated(
	event: RunEvent,
	{ waits, holders }: { readonly waits: Repeats; readonly holders: Holders },
): boolean {
	if (event.type === "pod.waiting") {
		const { reason, budget = "", message, usedBy } = event;
		const users = usedByKey(usedBy);
		// If the pods that use up a budget change, only one of the waiting pods reports it.
		if (!waits.isNews(podSubject(event), `${reason} ${budget} ${message}`)) return !holders.isNews(budget, users);
		if (budget !== "") holders.tell(budget, users);
		return false;
	}
	if (event.type === "lease.waiting") {
		return !waits.isNews(`lease ${event.budget}`, `${event.cluster} ${event.holder} ${event.position}`);
	}
	if (event.type === "cluster.unreachable") return !waits.isNews(`cluster ${event.cluster}`, "unreachable");
	if (event.type === "pod.evicting") waits.forget(podSubject(event));
	if (event.type === "cluster.recovered") waits.forget(`cluster ${event.cluster}`);
	return false;
}
