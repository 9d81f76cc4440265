// Writes the agent's log: JSON lines on stdout. Removes JSON Web Tokens and words after "Bearer", escapes control characters, and limits
// the length of a line.
import pino, { type Logger } from "pino";
import { printable } from "../../disruption/printable.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { LogLevel } from "./config.ts";

export type { Logger } from "pino";

const secrets = /eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(?<=Bearer\s)[A-Za-z0-9._~+/=-]+/gi;

interface LineSink {
	write(line: string): void;
}

/** Limits the lines kept while stdout cannot be written, for example because the disk is full. Further lines are dropped. */
const maxUnwrittenLength = 256 * 1024;

export function createLogger(level: LogLevel, sink: LineSink = openStdout()): Logger {
	return pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			formatters: { level: (label) => ({ level: label }) },
			serializers: { err: describeError },
			errorKey: "err",
		},
		// Covers the whole line, because messages of other programs may quote secrets.
		{ write: (line) => sink.write(boundLine(printable(line.replace(secrets, "[secret]")))) },
	);
}

/** Enough for a stack trace, an error page of another program, and the rest of the line. */
const maxLineLength = 16 * 1024;
const maxTextLength = 2_000;
const maxEntries = 20;

/** Shortens the lists and texts of a line that is too long, so that it stays valid JSON. If that is not enough, a warning replaces it. */
function boundLine(line: string): string {
	if (line.length <= maxLineLength) return line;
	const bounded = printable(JSON.stringify(boundTexts(JSON.parse(line))));
	if (bounded.length <= maxLineLength) return `${bounded}\n`;
	return `${JSON.stringify({ level: "warn", msg: "A line was left out of the log: it is too long" })}\n`;
}

function boundTexts(value: unknown): unknown {
	if (typeof value === "string") return shortenTo(value, maxTextLength);
	if (Array.isArray(value)) return value.slice(0, maxEntries).map(boundTexts);
	if (!isRecord(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, boundTexts(child)]));
}

function openStdout(): LineSink {
	const stdout = pino.destination({ dest: 1, sync: true, maxLength: maxUnwrittenLength });
	// An agent that cannot log must keep serving.
	stdout.on("error", () => undefined);
	return stdout;
}

/** Describes a domain error by reason and message. An error without a reason is a bug and is described with its stack. */
export function describeError(error: unknown): Record<string, unknown> {
	if (!(error instanceof Error)) return { message: String(error) };
	const reason = reasonOf(error);
	return {
		...(reason === undefined ? { name: error.name, stack: error.stack } : { reason }),
		message: error.message,
		...(error.cause instanceof Error && { cause: error.cause.message }),
	};
}

/** Returns the stable reason of a domain error; undefined for other errors. */
export function reasonOf(error: unknown): string | undefined {
	if (!(error instanceof Error) || !("reason" in error)) return undefined;
	return typeof error.reason === "string" ? error.reason : undefined;
}
