// Runs a script with the code that V8 compiled in earlier calls, including the functions that were called there. Node's own cache
// (node:module) keeps only what is compiled before the script runs, about a tenth. With that alone, an eviction would compile a thousand
// functions again, a third of its processor time.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { isRecord } from "../../disruption/record.ts";
import { readOwnFile } from "./own-file.ts";
import { replaceFile } from "./replace-file.ts";

/** Calls of one kind use nearly the same code. After this many of them, nothing more is saved. */
const learnedAfter = 3;
const maxKinds = 32;

interface Kept {
	readonly code: Buffer;
	/** How many calls of each kind have contributed to the code. */
	readonly learned: Readonly<Record<string, number>>;
}

export interface KeptScriptOptions {
	/** The file name contains a hash of the content, because V8 compares only the length. */
	readonly path: string;
	/** The folder for the code. Undefined: nothing is kept. */
	readonly folder: string | undefined;
	readonly argv: readonly string[];
	/** Runs the given function when the process ends. */
	readonly atEnd?: (write: () => void) => void;
}

/** Runs the script and returns its value: the script is one expression. */
export function loadKeptScript({ path, folder, argv, atEnd = whenProcessEnds }: KeptScriptOptions): unknown {
	const file =
		folder === undefined ? undefined : join(folder, `${basename(path, ".cjs")}-${process.version}-${process.arch}`);
	const kept = file === undefined ? undefined : readKept(file);
	// Latin-1 is enough, because the bundle is plain ASCII.
	const script = new Script(readFileSync(path, "latin1"), {
		filename: path,
		cachedData: kept?.code,
	});
	const learned = script.cachedDataRejected === false ? (kept?.learned ?? {}) : {};
	const kind = kindOf(argv);
	const calls = learned[kind] ?? 0;
	const isNew = calls < learnedAfter && (calls > 0 || Object.keys(learned).length < maxKinds);
	if (file !== undefined && isNew) {
		atEnd(() => writeKept(file, { code: script.createCachedData(), learned: { ...learned, [kind]: calls + 1 } }));
	}
	return script.runInThisContext();
}

/**
 * Returns the command and the names of its flags: `--help` and `--dry-run` use little of the code that other calls use. Leaves out values,
 * which may be secrets, except one that looks like a flag.
 */
function kindOf(argv: readonly string[]): string {
	const [first = ""] = argv;
	const flags = argv.flatMap((word) => /^(?:--[a-z-]+|-[a-zA-Z])/.exec(word) ?? []);
	return [...(/^[a-z]+$/.test(first) ? [first] : []), ...new Set(flags.toSorted())].join(" ");
}

function whenProcessEnds(write: () => void): void {
	process.once("exit", write);
}

/** Undefined if there is no intact file. V8 trusts the data and would crash if it were damaged. */
function readKept(file: string): Kept | undefined {
	try {
		const content = readOwnFile(file);
		const end = content.length - 4;
		const begin = end - content.readUInt32LE(end);
		const { sum, learned }: Record<string, unknown> = JSON.parse(content.toString("utf8", begin, end));
		const code = content.subarray(0, begin);
		if (sum !== crc32(code) || !isRecord(learned)) return undefined;
		const counts = Object.entries(learned).filter((entry): entry is [string, number] => typeof entry[1] === "number");
		return { code, learned: Object.fromEntries(counts) };
	} catch {
		// The file is missing, truncated or not ours.
		return undefined;
	}
}

function writeKept(file: string, { code, learned }: Kept): void {
	const facts = Buffer.from(JSON.stringify({ sum: crc32(code), learned }));
	const length = Buffer.alloc(4);
	length.writeUInt32LE(facts.length);
	replaceFile(file, Buffer.concat([code, facts, length]));
}
