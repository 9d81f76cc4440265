// The agent's log: JSON lines on stdout. No token is ever in it, whoever put it into a message.
import pino, { type Logger } from "pino";
import type { LogLevel } from "./config.ts";

export type { Logger } from "pino";

/** JSON Web Tokens, and whatever follows "Bearer". */
const secrets = /eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(?<=Bearer\s)[A-Za-z0-9._~+/=-]+/gi;

export interface LineSink {
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
		// The whole line and not some fields: messages of other programs may quote what they were sent.
		{ write: (line) => sink.write(line.replace(secrets, "[secret]")) },
	);
}

function openStdout(): LineSink {
	const stdout = pino.destination({ dest: 1, sync: true, maxLength: maxUnwrittenLength });
	// An agent that cannot log still serves. What was kept is written with the next line for which there is room.
	stdout.on("error", () => undefined);
	return stdout;
}

/** Errors of ours by reason and message; one without a reason is a bug and shows its stack. */
export function describeError(error: unknown): Record<string, unknown> {
	if (!(error instanceof Error)) return { message: String(error) };
	const reason = reasonOf(error);
	return {
		...(reason === undefined ? { name: error.name, stack: error.stack } : { reason }),
		message: error.message,
		...(error.cause instanceof Error && { cause: error.cause.message }),
	};
}

/** The stable reason of an error of ours. */
export function reasonOf(error: unknown): string | undefined {
	if (!(error instanceof Error) || !("reason" in error)) return undefined;
	return typeof error.reason === "string" ? error.reason : undefined;
}
