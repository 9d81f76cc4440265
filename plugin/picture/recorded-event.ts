// Parses the lines of a recorded run (-o json). The file is untrusted: fields that are missing or have another type are left out, and
// unknown event types are ignored.
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { eventsSchema } from "../output/ndjson.ts";
import { UsageError } from "../terminal/errors.ts";

/** One line, with its time as milliseconds since the epoch. */
export interface RecordedEvent {
	readonly type: string;
	readonly at: number;
	readonly fields: Readonly<Record<string, unknown>>;
}

const [schemaName = "", schemaVersion = ""] = eventsSchema.split("/");
const [knownMajor = ""] = schemaVersion.split(".");

/** Throws UsageError, whose message names `place`. */
export function readRecordedEvent(line: string, place: string): RecordedEvent {
	let fields: unknown;
	try {
		fields = JSON.parse(line);
	} catch {
		throw notARecord(place, "is not JSON");
	}
	if (!isRecord(fields)) throw notARecord(place, "is not an event");
	const { type, ts } = fields;
	const at = typeof ts === "string" ? Date.parse(ts) : Number.NaN;
	if (typeof type !== "string" || Number.isNaN(at)) throw notARecord(place, "has no type or no time");
	return { type, at, fields };
}

/** Throws UsageError if the record does not begin with the schema of its lines, or with one that this version cannot read. */
export function checkSchema({ type, fields }: RecordedEvent, place: string): void {
	const schema = textOf(fields["schema"]) ?? "";
	const [name, version = ""] = schema.split("/");
	if (type !== "version" || name !== schemaName) throw notARecord(place, "does not begin a run");
	if (version.split(".")[0] === knownMajor) return;
	throw new UsageError(
		`${place} follows ${quote(schema)}, and this version reads ${eventsSchema}`,
		"Use the version of kubectl xpdb that recorded it, or a newer one",
	);
}

export function textOf(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

function notARecord(place: string, problem: string): UsageError {
	return new UsageError(
		`${place} ${problem}`,
		"Record a run with: kubectl xpdb drain ... -o json > run.ndjson\nThen: kubectl xpdb report run.ndjson > run.html",
	);
}
