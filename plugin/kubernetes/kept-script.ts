// A script with the code that V8 made of it in earlier calls, down to the functions that were called there. Node's own cache (node:module)
// keeps what is compiled before the script runs, a tenth of it: an eviction would compile a thousand functions anew, a third of its
// processor time.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { isRecord } from "../../disruption/record.ts";
import { readOwnFile } from "./own-file.ts";
import { replaceFile } from "./replace-file.ts";

/** What calls of one kind use differs little from call to call: after so many of them nothing new is kept. */
const learnedAfter = 3;
const maxKinds = 32;

interface Kept {
	readonly code: Buffer;
	/** How many calls of each kind it has learned from. */
	readonly learned: Readonly<Record<string, number>>;
}

export interface KeptScriptOptions {
	/** Its name has a hash of what is in it: V8 compares no more than the length. */
	readonly path: string;
	/** Where code is kept; undefined: nowhere. */
	readonly folder: string | undefined;
	readonly argv: readonly string[];
	/** Calls it when the process ends. */
	readonly atEnd?: (write: () => void) => void;
}

/** What the script comes to: an expression. */
export function loadKeptScript({ path, folder, argv, atEnd = whenProcessEnds }: KeptScriptOptions): unknown {
	const file =
		folder === undefined ? undefined : join(folder, `${basename(path, ".cjs")}-${process.version}-${process.arch}`);
	const kept = file === undefined ? undefined : readKept(file);
	// The bundle is plain ASCII.
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

/** The command and which flags it has: `--help` and `--dry-run` use little of what the others do. Never a value, which may be a secret. */
function kindOf(argv: readonly string[]): string {
	const [first = ""] = argv;
	const flags = argv.flatMap((word) => /^(?:--[a-z-]+|-[a-zA-Z])/.exec(word) ?? []);
	return [...(/^[a-z]+$/.test(first) ? [first] : []), ...new Set(flags.toSorted())].join(" ");
}

function whenProcessEnds(write: () => void): void {
	process.once("exit", write);
}

/** Undefined where there is none that is whole: V8 believes what it is given, and would crash. */
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
		// Not there, or cut short.
		return undefined;
	}
}

function writeKept(file: string, { code, learned }: Kept): void {
	const facts = Buffer.from(JSON.stringify({ sum: crc32(code), learned }));
	const length = Buffer.alloc(4);
	length.writeUInt32LE(facts.length);
	replaceFile(file, Buffer.concat([code, facts, length]));
}
