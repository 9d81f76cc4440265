// Resolves a scalar, with or without a tag, as kubectl's YAML does (go.yaml.in/yaml/v2, resolve.go): YAML 1.1 with Go's numbers.

export interface YamlScalar {
	readonly text: string;
	/** The full tag, for example "tag:yaml.org,2002:int". "" if there is none. */
	readonly tag: string;
	readonly isPlain: boolean;
}

const standard = "tag:yaml.org,2002:";
const words: ReadonlyMap<string, boolean | null | number> = new Map<string, boolean | null | number>([
	...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
	...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
	...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
	...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const),
	...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Number.POSITIVE_INFINITY] as const),
	...["-.inf", "-.Inf", "-.INF"].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

/** Throws if the text does not match its tag. */
export function resolveScalar({ text, tag, isPlain }: YamlScalar): string | number | boolean | null {
	if (tag === "") return isPlain ? resolvePlain(text) : text;
	if (!tag.startsWith(standard)) return text;
	const kind = tag.slice(standard.length);
	switch (kind) {
		case "binary":
			return decodeBinary(text);
		case "timestamp":
			if (isTimestamp(text)) return text;
			break;
		case "int":
		case "float":
		case "bool":
		case "null": {
			const value = resolvePlain(text);
			const isInteger = typeof value === "number" && integer(text.replaceAll("_", "")) !== undefined;
			const found = value === null ? "null" : typeof value === "boolean" ? "bool" : isInteger ? "int" : "float";
			if (typeof value !== "string" && (found === kind || (found === "int" && kind === "float"))) return value;
			break;
		}
		default:
			return text;
	}
	throw new Error(`a value that is tagged !!${kind} is none`);
}

function resolvePlain(text: string): string | number | boolean | null {
	const word = words.get(text);
	if (word !== undefined) return word;
	if (text.startsWith("."))
		return decimal(text.replaceAll("_", "")) !== undefined && !text.includes("_") ? Number(text) : text;
	if (!/^[-+\d]/.test(text) || isTimestamp(text)) return text;
	const plain = text.replaceAll("_", "");
	const whole = integer(plain);
	if (whole !== undefined) return Number(whole);
	return decimal(plain) ?? text;
}

/** Like Go's strconv.ParseInt and ParseUint with base 0. Undefined if it is not an integer or exceeds 64 bits. */
function integer(text: string): bigint | undefined {
	const [, sign = "", prefix = "", digits = ""] = /^([-+]?)(0[xX]|0[oO]|0[bB]|0(?=\d))?([\da-fA-F]+)$/.exec(text) ?? [];
	const base = { x: "0x", o: "0o", b: "0b", "0": "0o" }[prefix.toLowerCase().at(-1) ?? ""];
	const allowed = { "0x": /^[\da-fA-F]+$/, "0o": /^[0-7]+$/, "0b": /^[01]+$/ }[base ?? ""] ?? /^\d+$/;
	if (!allowed.test(digits)) return undefined;
	const size = BigInt((base ?? "") + digits);
	if (sign === "-") return size <= 2n ** 63n ? -size : undefined;
	return size < 2n ** (sign === "+" ? 63n : 64n) ? size : undefined;
}

/** Undefined if it is not a number or exceeds a float's range. */
function decimal(text: string): number | undefined {
	if (!/^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(text)) return undefined;
	const value = Number(text);
	return Number.isFinite(value) ? value : undefined;
}

function decodeBinary(text: string): string {
	const packed = text.replaceAll(/[\r\n]/g, "");
	if (!isBase64(packed)) throw new Error("a !!binary value is not base64");
	return Buffer.from(packed, "base64").toString();
}

/** By the rules of Go's StdEncoding: padding is required, and no other characters are allowed. */
export function isBase64(text: string): boolean {
	return /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(text);
}

function isTimestamp(text: string): boolean {
	const [, year, month, day] =
		/^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]\d\d?:\d\d?:\d\d?(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(?:[.,]\d+)?)?$/.exec(
			text,
		) ?? [];
	if (year === undefined) return false;
	const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
	return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}
