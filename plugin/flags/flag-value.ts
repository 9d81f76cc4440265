// Parses a flag's value as Go does. yargs' coerce is not used, because it wraps every error and so loses our hint. yargs' own types do not
// accept "T" as a boolean, "1_000" as a number or "1m30s" as a duration.
import { KubeconfigError, UsageError } from "../terminal/errors.ts";
import { durationProblem, parseDuration } from "./duration.ts";
import type { Flag } from "./flag.ts";

/** The value of a flag. Throws UsageError in pflag's words, or KubeconfigError in kubectl's words for a timeout. */
export function readFlagValue(name: string, flag: Flag, value: string): string | number | boolean {
	const label = flag.short ? `-${flag.short}, --${name}` : `--${name}`;
	const invalid = (why: string): UsageError =>
		new UsageError(`invalid argument "${value}" for "${label}" flag: ${why}`);
	switch (flag.kind) {
		case "text":
		case "list":
			return value;
		case "boolean":
			if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
			if (/^(0|f|F|FALSE|false|False)$/.test(value)) return false;
			throw invalid(`strconv.ParseBool: parsing "${value}": invalid syntax`);
		case "number": {
			const number = parseInteger(value);
			if (typeof number === "number") return number;
			throw invalid(`strconv.ParseInt: parsing "${value}": ${number}`);
		}
		case "duration": {
			const ms = parseDuration(value);
			if (ms === undefined) throw invalid(durationProblem(value));
			return ms;
		}
		case "timeout": {
			// An empty or negative value counts as 0, as in kubectl. But "-1" without a unit is not valid.
			if (value === "") return 0;
			const ms = parseDuration(/^(\+?\d+|-0+)$/.test(value) ? `${value}s` : value);
			if (ms === undefined) {
				throw new KubeconfigError(
					"error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)",
				);
			}
			return Math.max(0, ms);
		}
	}
}

/** Like strconv.ParseInt with base 0 and 64 bits: "30", "-1", "0x1e", "1_000". */
function parseInteger(text: string): number | "invalid syntax" | "value out of range" {
	const [, sign = "", digits = ""] =
		/^([-+]?)(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][\d_]*)$/.exec(text) ?? [];
	if (digits === "" || /__|_$|^0[oO]$/.test(digits)) return "invalid syntax";
	const plain = digits.replaceAll("_", "");
	const value = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain) * (sign === "-" ? -1n : 1n);
	// Go's integers have 64 bits. Beyond 53 bits, we would send another number than the one typed.
	return Number.isSafeInteger(Number(value)) ? Number(value) : "value out of range";
}
