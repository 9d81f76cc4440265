// Writes the log that -v requests, from level 6 on, in the form of kubectl's log (klog):
// `I0102 15:04:05.000000    1234 file:line] "Message" name="value"`.
import { basename } from "node:path";
import { getCallSites } from "node:util";
import { HiddenSecrets } from "./hidden-secrets.ts";
import type { TextSink } from "./streams.ts";

export interface VerboseLog {
	/** 6: requests and answers. 7: also the headers of requests. 8 to 10: also the headers of answers, and more and more of the bodies. */
	readonly level: number;
	readonly secrets: HiddenSecrets;
	tell(message: string, fields: readonly LogField[]): void;
	/**
	 * Returns the part of a body that the level shows. Undefined if it shows none. `body` is JSON, as text or as a value, or any other text.
	 */
	body(body: unknown): LogField | undefined;
}

export type LogField = readonly [name: string, value: string | number];

/** kubectl logs no requests below this level either. */
const lowestLevel = 6;

/** Undefined if the level is too low. Callers then do no work for logging. */
export function createVerboseLog(level: number, stderr: TextSink): VerboseLog | undefined {
	if (level < lowestLevel) return undefined;
	const secrets = new HiddenSecrets();
	return {
		level,
		secrets,
		tell(message, fields) {
			const told = fields.map(([name, value]) => ` ${name}${formatValue(value)}`).join("");
			stderr.write(secrets.hide(`${head(new Date())} ${JSON.stringify(message)}${told}\n`));
		},
		body(body) {
			if (level < 8) return undefined;
			const text = typeof body === "string" ? maskedText(body, secrets) : JSON.stringify(secrets.masked(body));
			return ["body", truncated(secrets.hide(text), level)];
		},
	};
}

function maskedText(text: string, secrets: HiddenSecrets): string {
	let content: unknown;
	try {
		content = JSON.parse(text);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		// A truncated answer may contain half of a token.
		return text.trimStart().startsWith("{") ? `<masked: ${text.length} characters that are not complete JSON>` : text;
	}
	return JSON.stringify(secrets.masked(content));
}

/** As in client-go (rest/request.go). */
function truncated(text: string, level: number): string {
	const longest = level >= 10 ? text.length : level === 9 ? 10_240 : 1_024;
	if (text.length <= longest) return text;
	return `${text.slice(0, longest)} [truncated ${text.length - longest} chars]`;
}

function head(now: Date): string {
	const two = (value: number): string => String(value).padStart(2, "0");
	const day = `${two(now.getMonth() + 1)}${two(now.getDate())}`;
	const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":");
	const micros = String(now.getMilliseconds() * 1_000).padStart(6, "0");
	// The call site of the caller: 0 is this function, 1 is the log.
	const site = getCallSites(3)[2];
	return `I${day} ${time}.${micros} ${String(process.pid).padStart(7)} ${basename(site?.scriptName ?? "?")}:${site?.lineNumber ?? 0}]`;
}

/** Indents a value of several lines and quotes any other text, as in klog (internal/serialize). */
function formatValue(value: string | number): string {
	if (typeof value === "number") return `=${value}`;
	if (!value.includes("\n")) return `=${JSON.stringify(value)}`;
	const lines = value.replace(/\n$/, "").split("\n");
	return `=<\n${lines.map((line) => `\t${line}\n`).join("")} >`;
}
