// Writes the agent's log: JSON lines on stdout. The log contains no JSON Web Token and no word that follows "Bearer", even if a message
// did. Nor does it contain control characters for the reader's terminal, or texts of unlimited length.
import pino, { type Logger } from "pino";
import { printable } from "../../disruption/printable.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { LogLevel } from "./config.ts";

export type { Logger } from "pino";

/** JSON Web Tokens, and the word that follows "Bearer". */
const secrets = /eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(?<=Bearer\s)[A-Za-z0-9._~+/=-]+/gi;

interface LineSink {
	write(line: string): void;
}

/** Lines that cannot be written, because the disk behind stdout is full, are kept up to this length; further ones are dropped. */
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
		// The whole line and not only some fields: messages of other programs may quote what they were sent.
		{ write: (line) => sink.write(boundLine(printable(line.replace(secrets, "[secret]")))) },
	);
}

/** Enough for a stack, an error page of another program, and the rest of the line. */
const maxLineLength = 16 * 1024;
const maxTextLength = 2_000;
const maxEntries = 20;

/** Shortens lists and texts if a line is too long, so that it stays valid JSON. If that is not enough, a warning replaces it. */
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
	// An agent that cannot log still serves. Kept lines are written with the next line for which there is room.
	stdout.on("error", () => undefined);
	return stdout;
}

/**
 * Describes an error for the log: a domain error by reason and message. An error without a reason is a bug, and is logged with its stack.
 */
export function describeError(error: unknown): Record<string, unknown> {
	if (!(error instanceof Error)) return { message: String(error) };
	const reason = reasonOf(error);
	return {
		...(reason === undefined ? { name: error.name, stack: error.stack } : { reason }),
		message: error.message,
		...(error.cause instanceof Error && { cause: error.cause.message }),
	};
}

/** Returns the stable reason of a domain error; undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
	if (!(error instanceof Error) || !("reason" in error)) return undefined;
	return typeof error.reason === "string" ? error.reason : undefined;
}
