// Reads the first document of a YAML file as kubectl does (sigs.k8s.io/yaml over go.yaml.in/yaml/v2). The yaml package only finds the
// nodes, because its schemas differ from Go's: repeated keys, merge keys, numbers and booleans.
import {
	Composer,
	type Document,
	isAlias,
	isMap,
	isScalar,
	isSeq,
	type Node,
	Parser,
	type Scalar,
	type YAMLMap,
} from "yaml";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { quote } from "../../disruption/quote.ts";
import { resolveScalar } from "./yaml-scalar.ts";

/** Returns null for an empty file or document. Throws an Error that says in one line why kubectl would not read it. */
export function readYamlDocument(bytes: Uint8Array): unknown {
	const text = decode(bytes);
	const document = firstDocument(text);
	if (document === undefined) return null;
	const problem = document.errors.find(({ message }) => !message.startsWith("Comments must be separated"));
	if (problem !== undefined) throw new Error(parserProblem(problem));
	const { yaml } = document.directives ?? {};
	const isOtherVersion = yaml?.explicit === true && yaml.version !== "1.1";
	if (
		isOtherVersion ||
		document.warnings.some(({ message }) => /^(Unknown directive|Unsupported YAML)/.test(message))
	) {
		throw new Error("it has a directive that is neither %YAML 1.1 nor %TAG");
	}
	refuseControlCharacters(text.slice(0, document.range[2]));
	return new DocumentReader(document.contents, text).value;
}

const utf8Mark = "\uFEFF";

/** Decodes UTF-8, or UTF-16 with a byte order mark. Line breaks become \n, because the yaml package does not know all of them. */
function decode(bytes: Uint8Array): string {
	const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? "le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "be" : "";
	const encoding = mark === "" ? "utf-8" : `utf-16${mark}`;
	let text: string;
	try {
		text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		throw new Error(`it is not ${encoding.toUpperCase()}`);
	}
	if (text.startsWith(utf8Mark + utf8Mark)) throw new Error("it begins with two byte order marks");
	return (text.startsWith(utf8Mark) ? text.slice(1) : text).replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
}

function firstDocument(text: string): Document.Parsed | undefined {
	// Unknown tags must not print a warning.
	const composer = new Composer({ schema: "failsafe", resolveKnownTags: false, uniqueKeys: false, logLevel: "error" });
	for (const document of composer.compose(new Parser().parse(text))) return document;
	return undefined;
}

function refuseControlCharacters(text: string): void {
	if (/[^\t\n\x20-\x7E\xA0-\uFFFD]/.test(text)) throw new Error("control characters are not allowed");
}

/** How much of a file may come from aliases: Go's limit against files that expand without end. */
function allowedAliasRatio(values: number): number {
	const [few, many] = [400_000, 4_000_000];
	return 0.99 - 0.89 * Math.min(1, Math.max(0, (values - few) / (many - few)));
}

class DocumentReader {
	readonly value: unknown;
	readonly #targets = new Map<Node, Node>();
	readonly #open = new Set<Node>();
	#values = 0;
	#aliased = 0;

	readonly #text: string;

	constructor(root: Node | null, text: string) {
		this.#text = text;
		this.#findTargets(root, new Map());
		this.value = this.#read(root);
	}

	/** Refuses YAML 1.2 syntax that 1.1 does not have. */
	#refuseNewerSyntax(node: Scalar, isKey: boolean, isInFlow: boolean): void {
		const [start, end] = node.range ?? [0, 0];
		const written = this.#text.slice(start, end);
		if (node.type === "QUOTE_DOUBLE") {
			for (const [escape] of written.matchAll(/\\(?:u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)/gs)) {
				if (/^\\(\/|u[dD][89a-fA-F]|U0000[dD][89a-fA-F]|U(?!000|0010))/.test(escape))
					throw new Error(`it has the escape ${escape}`);
			}
		}
		if (isInFlow && node.type === "PLAIN" && written.startsWith("?"))
			throw new Error("a text in {} or [] begins with ?");
		if (isInFlow && isKey && written.includes("\n")) throw new Error("a key in {} is on more than one line");
		if (node.tag !== undefined && written === "" && /^[^\s][,}\]]/.test(this.#text.slice(start - 1, start + 1))) {
			throw new Error("a tag has no space after it");
		}
	}

	/** An alias refers to the last anchor of its name before it. */
	#findTargets(node: unknown, anchors: Map<string, Node>, isInFlow = false, isKey = false): void {
		if (isAlias(node)) {
			const target = anchors.get(node.source);
			if (target === undefined) throw new Error(`unknown anchor ${quote(node.source)}`);
			this.#targets.set(node, target);
			return;
		}
		if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
		if (isScalar(node)) this.#refuseNewerSyntax(node, isKey, isInFlow);
		if (!isSeq(node) && !isMap(node)) return;
		const flow = node.flow === true;
		if (isSeq(node)) for (const item of node.items) this.#findTargets(item, anchors, flow);
		else {
			for (const { key, value } of node.items) {
				this.#findTargets(key, anchors, flow, true);
				this.#findTargets(value, anchors, flow);
			}
		}
	}

	#read(node: unknown): unknown {
		this.#values += 1;
		if (this.#open.size > 0) this.#aliased += 1;
		if (this.#aliased > 100 && this.#values > 1000 && this.#aliased / this.#values > allowedAliasRatio(this.#values)) {
			throw new Error("it has too many aliases");
		}
		if (isAlias(node)) return this.#readAlias(node, (target) => this.#read(target));
		if (isScalar(node)) {
			const value = resolveScalar({
				text: node.source ?? "",
				tag: node.tag ?? "",
				isPlain: node.type === "PLAIN",
			});
			if (typeof value === "number" && !Number.isFinite(value))
				throw new Error(`it has a number without a value (${value})`);
			return value;
		}
		if (isSeq(node)) return node.items.map((item) => this.#read(item));
		if (!isMap(node)) return null;
		const fields = new Map<string, unknown>();
		this.#readInto(fields, node);
		// Assignment would not treat "__proto__" as an ordinary name.
		return Object.fromEntries(fields);
	}

	#readAlias<T>(node: Node, read: (target: Node) => T): T {
		const target = this.#targets.get(node);
		if (target === undefined || this.#open.has(target)) throw new Error("an anchor contains itself");
		this.#open.add(target);
		const value = read(target);
		this.#open.delete(target);
		return value;
	}

	/** A later key replaces an earlier one, merged or not. */
	#readInto(fields: Map<string, unknown>, map: YAMLMap): void {
		for (const { key, value } of map.items) {
			if (isMergeKey(key)) {
				this.#merge(fields, value);
				continue;
			}
			const name = keyText(key, isScalar(key) || isAlias(key) ? this.#readKey(key) : undefined);
			const read = this.#read(value);
			fields.delete(name);
			fields.set(name, read);
		}
	}

	#readKey(key: Node): unknown {
		if (isAlias(key)) return this.#readAlias(key, (target) => this.#readKey(target));
		if (!isScalar(key)) return undefined;
		return resolveScalar({ text: key.source ?? "", tag: key.tag ?? "", isPlain: key.type === "PLAIN" });
	}

	#merge(fields: Map<string, unknown>, source: unknown): void {
		if (isSeq(source)) {
			// The first of several merged maps takes precedence, so it is merged last.
			for (const item of source.items.toReversed()) {
				if (isSeq(item)) throw mergeError();
				this.#merge(fields, item);
			}
			return;
		}
		const target = isAlias(source) ? this.#targets.get(source) : source;
		if (!isMap(target)) throw mergeError();
		if (isAlias(source)) this.#readAlias(source, () => this.#readInto(fields, target));
		else this.#readInto(fields, target);
	}
}

function mergeError(): Error {
	return new Error("a merge key (<<) needs a map, or a list of maps");
}

function isMergeKey(key: unknown): boolean {
	if (!isScalar(key) || key.source !== "<<") return false;
	const isUntagged = key.tag === undefined && key.type === "PLAIN";
	return isUntagged || key.tag === "!" || key.tag === "tag:yaml.org,2002:merge";
}

function keyText(key: unknown, value: unknown): string {
	if (typeof value === "string" || typeof value === "boolean") return String(value);
	if (typeof value !== "number") throw new Error("a key is neither text nor a number nor a boolean");
	const isWhole = Number.isInteger(value) && isScalar(key) && !/[.eE]/.test(key.source ?? "");
	return isWhole ? String(value) : floatText(value);
}

/** Formats a number key as sigs.k8s.io/yaml does: as a 32-bit float in Go's %g, but infinity and NaN as in YAML. */
function floatText(value: number): string {
	if (Number.isNaN(value)) return ".nan";
	if (!Number.isFinite(value)) return value < 0 ? "-.inf" : ".inf";
	const wanted = Math.fround(value);
	const digits =
		[1, 2, 3, 4, 5, 6, 7, 8, 9].find((each) => Math.fround(Number(value.toPrecision(each))) === wanted) ?? 9;
	const [mantissa = "", exponent = "0"] = value.toExponential(digits - 1).split("e");
	const power = Number(exponent);
	if (power >= -4 && power < 6) return String(Number(value.toPrecision(digits)));
	return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
