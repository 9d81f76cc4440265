// Reconstructs a run from its recorded events only: the lanes of its pods, the curves of its budgets, and warnings and outages.
import { type BudgetCurve, BudgetCurves } from "./budget-curves.ts";
import { type NodeLane, PodLanes } from "./pod-lanes.ts";
import { listOf, numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";

export interface RunPicture {
	/** Such as "drain" or "evict"; "run" if the record does not say. */
	readonly command: string;
	/** The command line as typed, without secrets; older records have none. */
	readonly commandLine: string | undefined;
	readonly op: string | undefined;
	/** The user who ran it, as user@host; older records have none. */
	readonly by: string | undefined;
	readonly client: string;
	/** The agents' versions, by context, or by the member's name if it has no context. */
	readonly agents: readonly (readonly [context: string, version: string])[];
	readonly dryRun: string | undefined;
	/** The times of the first and the last event, in milliseconds since the epoch. */
	readonly from: number;
	readonly to: number;
	/** Undefined if the record ends before the run did. */
	readonly summary: PictureSummary | undefined;
	readonly lanes: readonly NodeLane[];
	readonly budgets: readonly BudgetCurve[];
	readonly notes: readonly Note[];
}

export interface PictureSummary {
	readonly result: string;
	readonly exitCode: number | undefined;
	readonly evicted: number;
	readonly failed: number;
	readonly longestWaitMs: number;
	readonly resume: string | undefined;
	readonly undo: string | undefined;
}

/** An event that neither the lanes nor the curves show, such as a warning, an unreachable cluster or an interruption. */
export interface Note {
	readonly at: number;
	readonly level: "error" | "warning" | "info";
	readonly where: string;
	readonly text: string;
}

export class PictureFold {
	readonly #lanes = new PodLanes();
	readonly #budgets = new BudgetCurves();
	readonly #notes: Note[] = [];
	#first: RecordedEvent | undefined;
	#started: RecordedEvent | undefined;
	#summary: PictureSummary | undefined;
	#last = 0;

	/**
	 * Adds an event. Call it in the order of the record. If the clock was set back during the run, time stands still in the picture until
	 * the clock has caught up.
	 */
	see(event: RecordedEvent): void {
		const at = Math.max(event.at, this.#last);
		const ordered = { ...event, at };
		this.#first ??= ordered;
		this.#last = at;
		if (event.type === "run.started") this.#started ??= ordered;
		if (event.type === "summary") this.#summary = readSummary(event);
		const note = noteOf(ordered);
		if (note) this.#notes.push(note);
		this.#lanes.see(ordered);
		this.#budgets.see(ordered);
	}

	picture(): RunPicture | undefined {
		if (!this.#first) return undefined;
		const { fields, at: from } = this.#first;
		const to = this.#last;
		return {
			command: textOf(fields["command"]) ?? "run",
			commandLine: textOf(fields["commandLine"]),
			op: textOf(fields["op"]),
			by: textOf(fields["by"]),
			client: textOf(fields["client"]) ?? "",
			agents: Object.entries(fields["agents"] ?? {}).map(([context, version]) => [context, String(version)]),
			dryRun: textOf(this.#started?.fields["dryRun"]),
			from,
			to,
			summary: this.#summary,
			lanes: this.#lanes.lanes(to),
			budgets: this.#budgets.curves(to),
			notes: this.#notes,
		};
	}
}

function readSummary({ fields }: RecordedEvent): PictureSummary {
	return {
		result: textOf(fields["result"]) ?? "",
		exitCode: numberOf(fields["exitCode"]),
		evicted: numberOf(fields["evicted"]) ?? 0,
		failed: numberOf(fields["failed"]) ?? 0,
		longestWaitMs: numberOf(fields["longestWaitMs"]) ?? 0,
		resume: textOf(fields["resume"]),
		undo: textOf(fields["undo"]),
	};
}

function noteOf({ type, at, fields }: RecordedEvent): Note | undefined {
	const where = textOf(fields["context"]) ?? "";
	const text = textOf(fields["message"]) ?? "";
	switch (type) {
		case "diagnostic": {
			const level = fields["level"];
			return { at, level: level === "error" || level === "warning" ? level : "info", where, text };
		}
		case "context.unreachable":
			return { at, level: "error", where, text: `gives no answer: ${text}` };
		case "context.recovered":
			return { at, level: "info", where, text: "answers again" };
		case "lease.lost":
			return { at, level: "warning", where, text: `lease of budget ${textOf(fields["budget"]) ?? ""} lost: ${text}` };
		case "lease.waiting": {
			const holder = textOf(fields["holder"]) ?? "";
			const held = holder === "" ? "its lease is taken" : `its lease is held by ${holder}`;
			return { at, level: "info", where, text: `budget ${textOf(fields["budget"]) ?? ""}: ${held}` };
		}
		case "node.cordonFailed":
			return { at, level: "error", where, text: `node ${textOf(fields["node"]) ?? ""} cannot be cordoned: ${text}` };
		case "budget.notRecovered":
			return { at, level: "warning", where, text };
		case "interrupted":
			return { at, level: "warning", where, text: "interrupted: no new evictions from here on" };
		case "summary": {
			const left = listOf(fields["notDrained"]).length;
			return left === 0 ? undefined : { at, level: "warning", where, text: `${left} of the nodes not drained` };
		}
		default:
			return undefined;
	}
}
