// Parses and formats durations in Go's form, which kubectl's flags and messages use: "30s", "1m30s", "1h0m0s".

const unitMs: Readonly<Record<string, number>> = {
	ns: 1e-6,
	us: 1e-3,
	µs: 1e-3,
	ms: 1,
	s: 1_000,
	m: 60_000,
	h: 3_600_000,
};

/** Go stores nanoseconds in 64 bits: 292 years. */
const longestDurationMs = 2 ** 63 / 1e6;

/** Returns milliseconds. Undefined if time.ParseDuration would fail. */
export function parseDuration(text: string): number | undefined {
	const [, sign = "", body = ""] = /^([-+]?)(.*)$/.exec(text) ?? [];
	if (body === "0") return 0;
	const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h)/y;
	let total = 0;
	while (part.lastIndex < body.length) {
		const found = part.exec(body);
		if (!found) return undefined;
		total += Number(found[1]) * (unitMs[found[2] ?? ""] ?? Number.NaN);
	}
	if (body === "" || total > longestDurationMs) return undefined;
	// Go's shortest duration is a nanosecond.
	if (total < 1e-6) return 0;
	return sign === "-" ? -total : total;
}

/** Whole milliseconds, as AbortSignal.timeout() requires. Limited, because a timer of more than 24 days would fire at once. */
export function timerMs(ms: number): number {
	return Math.min(Math.ceil(ms), 2 ** 31 - 1);
}

/** Returns why parseDuration() fails, in time.ParseDuration's words. */
export function durationProblem(text: string): string {
	const rest = text.replace(/^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|ms|s|m|h)(?![a-z\u00b5]))*/, "");
	const [, number, unit] = /^(\d+(?:\.\d*)?|\.\d+)([^\d.]*)/.exec(rest) ?? [];
	const quoted = JSON.stringify(text);
	if (number === undefined) return `time: invalid duration ${quoted}`;
	if (unit === "") return `time: missing unit in duration ${quoted}`;
	return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
}

/** Like time.Duration.String(): 90000 is "1m30s", 500 is "500ms", 0.0015 is "1.5µs", 0 is "0s". */
export function formatDuration(ms: number): string {
	if (ms < 0) return `-${formatDuration(-ms)}`;
	const nanoseconds = Math.round(ms * 1e6);
	if (nanoseconds > 0 && nanoseconds < 1e9) {
		if (nanoseconds < 1e3) return `${nanoseconds}ns`;
		return nanoseconds < 1e6 ? `${nanoseconds / 1e3}µs` : `${nanoseconds / 1e6}ms`;
	}
	const seconds = Math.round(ms) / 1_000;
	const hours = Math.floor(seconds / 3_600);
	const minutes = Math.floor(seconds / 60) % 60;
	const rest = `${Number((seconds % 60).toFixed(3))}s`;
	if (hours > 0) return `${hours}h${minutes}m${rest}`;
	return minutes > 0 ? `${minutes}m${rest}` : rest;
}

/** A time for people, without fractions of a second: "12s", "2m05s", "1h02m". */
export function formatElapsed(ms: number): string {
	const seconds = Math.max(0, Math.floor(ms / 1_000));
	const pad = (value: number): string => String(value).padStart(2, "0");
	if (seconds < 60) return `${seconds}s`;
	if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
	return `${Math.floor(seconds / 3_600)}h${pad(Math.floor(seconds / 60) % 60)}m`;
}

/** An age for people, in one unit: "12s", "9m", "3h", "4d". */
export function formatAge(ms: number): string {
	const seconds = Math.max(0, Math.floor(ms / 1_000));
	if (seconds < 60) return `${seconds}s`;
	if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
	return seconds < 48 * 3_600 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
