// -o json of a run: one JSON object a line, as schemas/events-v1.json publishes them. The first line is "version", the
// last one "summary", `seq` has no gaps. The reader beside the plain lines: it knows nothing but the events.
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
	/** As it was typed, without what is secret. */
	readonly commandLine: string;
	/** Who runs it: user@host, as the system has it. */
	readonly by: string;
	/** For commands that help. */
	readonly suggest: SuggestedCommands;
	/** Monotonic milliseconds. */
	readonly now: () => number;
	/** Milliseconds since the epoch. */
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
	/** Until the agents are known, which the first line names. */
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

/** What would be told at every look is told when it changes. */
function isRepeated(
	event: RunEvent,
	{ waits, holders }: { readonly waits: Repeats; readonly holders: Holders },
): boolean {
	if (event.type === "pod.waiting") {
		const { reason, budget = "", message, usedBy } = event;
		const users = usedByKey(usedBy);
		// Of all that wait for a budget, one says that others use it up now.
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
