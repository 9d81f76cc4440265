// Runs a script with the code that V8 compiled in earlier calls. Node's own cache keeps only code that is compiled before the script runs,
// about a tenth. Recompiling the rest would take a third of an eviction's CPU time.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { isRecord } from "../../disruption/record.ts";
import { readOwnFile } from "./own-file.ts";
import { replaceFile } from "./replace-file.ts";

/** Calls of one kind use nearly the same code, so more calls would add little. */
const learnedAfter = 3;
const maxKinds = 32;

/**
 * The flags that never take the next word as their value. The command table says this too, but it is part of the program that this file
 * loads.
 */
export const flagsWithoutNextWord: ReadonlySet<string> = new Set(
	[
		"--all-namespaces -A --ca --client --delete-budgets --delete-emptydir-data --disable-compression --disable-eviction --dry-run",
		"--force --force-conflicts --help -h --ignore-daemonsets --insecure-skip-tls-verify --match-server-version --no-headers --pre",
		"--rotate --wait --warnings-as-errors --watch -w --yes -y",
	].flatMap((names) => names.split(" ")),
);

interface Kept {
	readonly code: Buffer;
	/** The number of calls of each kind that contributed to the code. */
	readonly learned: Readonly<Record<string, number>>;
}

export interface KeptScriptOptions {
	/** Must contain a hash of the content, because V8 compares only the length. */
	readonly path: string;
	readonly folder: string | undefined;
	readonly argv: readonly string[];
	readonly atEnd?: (write: () => void) => void;
}

/** Returns the value of the script, which is one expression. */
export function loadKeptScript({ path, folder, argv, atEnd = whenProcessEnds }: KeptScriptOptions): unknown {
	const file =
		folder === undefined ? undefined : join(folder, `${basename(path, ".cjs")}-${process.version}-${process.arch}`);
	const kept = file === undefined ? undefined : readKept(file);
	// Latin-1 is enough, because the bundle is ASCII.
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
 * Returns the command and its flags' names, because `--help` and `--dry-run` use little of the code. Leaves out flag values, which may be
 * secrets: also values that look like flags (`--selector -a`), and everything after "--".
 */
function kindOf(argv: readonly string[]): string {
	const end = argv.indexOf("--");
	const words = end < 0 ? argv : argv.slice(0, end);
	const [first = ""] = words;
	const flags = words.flatMap((word, index) =>
		mayTakeNextWord(words[index - 1] ?? "") ? [] : (/^(?:--[a-z-]+|-[a-zA-Z])/.exec(word) ?? []),
	);
	return [...(/^[a-z]+$/.test(first) ? [first] : []), ...new Set(flags.toSorted())].join(" ");
}

function mayTakeNextWord(word: string): boolean {
	return word.startsWith("-") && !word.includes("=") && !flagsWithoutNextWord.has(word);
}

function whenProcessEnds(write: () => void): void {
	process.once("exit", write);
}

/** Undefined if there is no intact file: damaged data could crash V8. */
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
