// Answers a shell at the Tab key. kubectl itself asks for `kubectl xpdb` (kubectl_complete-xpdb), and the scripts of `completion` ask for
// `kubectl-xpdb`. The answer has one value per line with its description, and ends with a directive in cobra's form.
//
// The answer is written within 300 ms of the start of the process, with the names that are known by then. Names from a cluster are those
// that an earlier Tab kept. If none are kept, the cluster is asked in the time that is left. If its answer comes too late, or the kept
// names are old, a process in the background requests the names for the next Tab.
//
// yargs' completion is not used, because it supports neither descriptions in kubectl's form nor directives.
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { Command, CommandDependencies } from "../flags/command.ts";
import type { Flag, FlagTable } from "../flags/flag.ts";
import { globalFlags, readGlobalFlags } from "../flags/global-flags.ts";
import { commandWords, joinValues, readArguments } from "../flags/pflag.ts";
import type { openContexts } from "../kubernetes/open-contexts.ts";
import {
	type Completion,
	type ContextNames,
	type NameList,
	namesAtTheKey,
	namesInBackground,
	type NameSource,
} from "./cluster-names.ts";

/** cobra's directives, as bits. `files`: complete file names. `noFiles`: do not. `goesOn`: no file names, and no space after the value. */
const directives = { files: 0, noFiles: 4, goesOn: 6 } as const;
/** 300 ms in all, less the 50 ms of the program's own start and end, which its clock does not see. */
const answerWithinMs = 250;
/**
 * A request to a cluster takes as long as the program's start, or longer on a busy machine. A request that starts later would delay the
 * answer and still come too late.
 */
const latestBeginMs = 150;
const backgroundWithinMs = 5_000;

interface Completed {
	readonly values: readonly Completion[];
	readonly directive: (typeof directives)[keyof typeof directives];
}

interface CompleteOptions {
	readonly commands: readonly Command[];
	/** Milliseconds since the process started. */
	readonly now: () => number;
	/** Starts a process that requests the names of this line. The shell does not wait for it. */
	readonly askInBackground?: (words: readonly string[]) => Promise<void>;
	/** For tests. */
	readonly open?: typeof openContexts;
	/** The clock for the age of kept names. For tests. */
	readonly wallClock?: () => number;
	/** Calls `end` after `ms` milliseconds, unless the returned function is called before. For tests. */
	readonly startTimer?: (end: () => void, ms: number) => () => void;
}

function startRealTimer(end: () => void, ms: number): () => void {
	const timer = setTimeout(end, ms);
	return () => clearTimeout(timer);
}

/** `words` are all words after the program's name. The last one is being typed and may be empty. */
export async function complete(
	words: readonly string[],
	{ streams, env }: Pick<CommandDependencies, "streams" | "env">,
	{ commands, now, askInBackground, open, wallClock, startTimer = startRealTimer }: CompleteOptions,
): Promise<0> {
	const stop = new AbortController();
	const beganMs = now();
	if (beganMs > latestBeginMs) stop.abort();
	const stopTimer = startTimer(() => stop.abort(), Math.max(answerWithinMs - beganMs, 0));
	const source = namesAtTheKey({ env, signal: stop.signal, open, wallClock });
	// Ignore errors: the command reports them when it runs.
	const found = await answer(words, env, commands, source).catch(() => nothing);
	stopTimer();
	for (const { value, about } of found.values) {
		streams.stdout.write(about === undefined ? `${value}\n` : `${value}\t${about}\n`);
	}
	streams.stdout.write(`:${found.directive}\n`);
	if (source.end()) await askInBackground?.(words);
	return 0;
}

/** Requests the names that this line needs, for the next Tab. Prints nothing. */
export async function completeInBackground(
	words: readonly string[],
	env: NodeJS.ProcessEnv,
	{
		commands,
		open,
		wallClock,
		signal,
	}: Omit<CompleteOptions, "now" | "askInBackground" | "startTimer"> & { readonly signal: AbortSignal },
): Promise<0> {
	const source = namesInBackground({
		env,
		signal: AbortSignal.any([signal, AbortSignal.timeout(backgroundWithinMs)]),
		open,
		wallClock,
	});
	// Ignore errors: the next Tab, or the command itself, shows them.
	await answer(words, env, commands, source).catch(() => nothing);
	return 0;
}

const nothing: Completed = { values: [], directive: directives.noFiles };

async function answer(
	words: readonly string[],
	env: NodeJS.ProcessEnv,
	commands: readonly Command[],
	source: NameSource,
): Promise<Completed> {
	const typed = words.at(-1) ?? "";
	const before = words.slice(0, -1);
	const command = findCommand(before, commands);
	const table: FlagTable = { ...globalFlags, ...command?.flags, help: { kind: "boolean", describe: "Show help" } };
	const line: TypedLine = { table, before, env, source };
	const [, prefix = "", name = "", value = ""] = /^(--([^=]+)=)(.*)$/s.exec(typed) ?? [];
	if (name !== "") return flagValues({ name, prefix, typed: value }, line);
	const waiting = flagThatWaits(before, table);
	// Leave out the flag that still needs its value, because it cannot be parsed yet.
	if (waiting !== undefined)
		return flagValues({ name: waiting, prefix: "", typed }, { ...line, before: before.slice(0, -1) });
	if (typed.startsWith("-")) {
		const values = Object.entries(table)
			.filter(([name]) => name.length > 1)
			.map(([name, { describe }]) => ({ value: `--${name}`, about: describe }));
		return starting(values, typed);
	}
	if (!command) return starting(firstWords(commands), typed);
	if (command.name === "report") return { values: [], directive: directives.files };
	const { values } = await wordsOf(command, typed, line, commands);
	return starting(values, typed);
}

interface TypedLine {
	readonly table: FlagTable;
	/** All words before the one that is being typed. */
	readonly before: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly source: NameSource;
}

function starting(values: readonly Completion[], typed: string): Completed {
	const fitting = values.filter(({ value }) => value.startsWith(typed));
	const goesOn = fitting.length > 0 && fitting.every(({ value }) => value.endsWith("/"));
	return { values: fitting, directive: goesOn ? directives.goesOn : directives.noFiles };
}

function firstWords(commands: readonly Command[]): readonly Completion[] {
	return commands
		.filter(({ name }) => !name.includes(" "))
		.map(({ name, describe }) => ({ value: name, about: describe }));
}

/**
 * Finds the command with the longest name that the line's words begin with. Flags may come before the command, with values that look like
 * commands.
 */
function findCommand(before: readonly string[], commands: readonly Command[]): Command | undefined {
	const [first = "", second = ""] = commandWords(
		before,
		Object.assign({}, globalFlags, ...commands.map(({ flags }) => flags)),
	);
	return commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first);
}

/** Returns the name of the flag whose value comes next, if the last word is a flag that takes a value. */
function flagThatWaits(before: readonly string[], table: FlagTable): string | undefined {
	const last = before.at(-1) ?? "";
	const name = last.startsWith("--")
		? last.slice(2)
		: /^-[a-zA-Z]$/.test(last)
			? Object.entries(table).find(([, { short }]) => short === last.slice(1))?.[0]
			: undefined;
	const flag = name === undefined || !Object.hasOwn(table, name) ? undefined : table[name];
	return flag && flag.kind !== "boolean" && flag.bare === undefined ? name : undefined;
}

async function flagValues(
	{ name, prefix, typed }: { readonly name: string; readonly prefix: string; readonly typed: string },
	line: TypedLine,
): Promise<Completed> {
	const flag: Flag | undefined = Object.hasOwn(line.table, name) ? line.table[name] : undefined;
	if (!flag) return nothing;
	if (fileFlags.has(name)) return { values: [], directive: directives.files };
	// In a list, only the last item is being typed.
	const front = flag.commas ? typed.replace(/[^,]*$/, "") : "";
	const taken = new Set(front.split(","));
	const values = (await valuesOf(name, flag, line))
		.filter(({ value }) => !taken.has(value))
		.map(({ value, ...more }) => ({ ...more, value: `${prefix}${front}${value}` }));
	return starting(values, `${prefix}${typed}`);
}

const fileFlags: ReadonlySet<string> = new Set([
	"kubeconfig",
	"report",
	"certificate-authority",
	"client-certificate",
	"client-key",
]);

async function valuesOf(name: string, flag: Flag, line: TypedLine): Promise<readonly Completion[]> {
	switch (name) {
		case "context":
		case "contexts":
			return contextsOf(line);
		case "namespace":
		case "agent-namespace":
			return namesOf(line, { path: () => "/api/v1/namespaces" });
		case "resume":
		case "op":
			return operationsOf(line);
		default:
			// "none|server|client" are values, "FILE" is a placeholder.
			return /^[a-z]+(\|[a-z]+)*$/.test(flag.value ?? "")
				? (flag.value ?? "").split("|").map((value) => ({ value }))
				: [];
	}
}

async function wordsOf(
	{ name, words }: Command,
	typed: string,
	line: TypedLine,
	commands: readonly Command[],
): Promise<{ readonly values: readonly Completion[] }> {
	const below = commands
		.filter((each) => each.name.startsWith(`${name} `))
		.map((each) => ({ value: each.name.slice(name.length + 1), about: each.describe }));
	// For example "bash|zsh" or "[list]".
	const fixed = words
		.replace(/^\[(.*)\]$/, "$1")
		.split("|")
		.map((word) => word.trim());
	if (fixed.every((word) => /^[a-z]+$/.test(word))) return { values: [...fixed.map((value) => ({ value })), ...below] };
	if (words.startsWith("NODE")) return { values: await nodesOf(line) };
	if (words.startsWith("POD")) return { values: await namesOf(line, pods) };
	if (words.includes("BUDGET") || words.startsWith("[NAME"))
		return { values: [...below, ...(await namesOf(line, budgets))] };
	if (words.includes("pod/")) return { values: await kindsOf(line, typed) };
	return { values: below };
}

const nodes: NameList = { path: () => "/api/v1/nodes" };
const pods: NameList = { path: (namespace) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods` };
const budgets: NameList = {
	path: (namespace) =>
		`/apis/${budgetApi.group}/${budgetApi.version}/namespaces/${encodeURIComponent(namespace)}/${budgetApi.resource}`,
};

/** Returns the kinds "pod/", "node/" and "budget/", or the names of one kind. */
async function kindsOf(line: TypedLine, typed: string): Promise<readonly Completion[]> {
	const [, kind = ""] = /^(pod|node|budget)\//.exec(typed) ?? [];
	const lists = { pod: pods, node: nodes, budget: budgets } as const;
	if (kind !== "pod" && kind !== "node" && kind !== "budget") {
		return Object.keys(lists).map((each) => ({ value: `${each}/` }));
	}
	return (await namesOf(line, lists[kind])).map(({ value, ...more }) => ({ ...more, value: `${kind}/${value}` }));
}

async function contextsOf(line: TypedLine): Promise<readonly Completion[]> {
	const { loadKubeconfig } = await import("../kubernetes/kubeconfig.ts");
	const kubeconfig = loadKubeconfig(globalFlagsOf(line), line.env);
	return [...kubeconfig.contexts.keys()].map((value) => ({ value }));
}

/** Returns "node" if there is one context, "context/node" if there are several. */
async function nodesOf(line: TypedLine): Promise<readonly Completion[]> {
	const isOne = globalFlagsOf(line).contexts.length <= 1;
	return (await listed(line, nodes)).flatMap(({ context, names }) =>
		names.map(({ value }) => (isOne ? { value } : { value: `${context}/${value}`, about: `node in ${context}` })),
	);
}

async function operationsOf(line: TypedLine): Promise<readonly Completion[]> {
	const { operationAnnotation, parseOperation } = await import("../nodes/operation.ts");
	return namesOf(line, {
		...nodes,
		others: {
			word: "operations",
			of({ annotations }) {
				const text = annotations[operationAnnotation];
				const found = text === undefined ? undefined : parseOperation(text);
				if (found?.kind !== "operation") return undefined;
				const { id, by, since } = found.operation;
				return { value: id, about: `${by} ${since}` };
			},
		},
	});
}

async function namesOf(line: TypedLine, list: NameList): Promise<readonly Completion[]> {
	const all = (await listed(line, list)).flatMap(({ names }) => names);
	return [...new Map(all.map((each) => [each.value, each])).values()];
}

function listed(line: TypedLine, list: NameList): Promise<readonly ContextNames[]> {
	return line.source.list(globalFlagsOf(line), list);
}

function globalFlagsOf({ before, table }: TypedLine): ReturnType<typeof readGlobalFlags> {
	return readGlobalFlags(typedFlags(before, table));
}

/** Throws if the flags cannot be parsed, as in a line that is still being typed. */
function typedFlags(before: readonly string[], table: FlagTable): Readonly<Record<string, unknown>> {
	return joinValues(readArguments(before, table).flags, table);
}
