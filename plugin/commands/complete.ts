// What a shell asks for at the Tab key, for `kubectl xpdb` by kubectl itself (kubectl_complete-xpdb) and for `kubectl-xpdb` by the
// scripts of `completion`: a value a line with what it is, and at the end a directive as cobra has it.
//
// A person waits: an answer comes within 300 ms of the start of the process, or none. Commands and flags are known here and come at once. Names
// of a cluster come from what an earlier key left, else from the cluster in the time that is left; what comes too late is there at the next key.
// Not yargs' completion: it knows neither descriptions in kubectl's form nor directives.
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { Command, CommandDependencies } from "../flags/command.ts";
import type { Flag, FlagTable } from "../flags/flag.ts";
import { globalFlags, readGlobalFlags } from "../flags/global-flags.ts";
import { joinValues, readArguments } from "../flags/pflag.ts";
import type { openContexts } from "../kubernetes/open-contexts.ts";
import {
	type Completion,
	type ContextNames,
	type NameList,
	namesAtTheKey,
	namesInBackground,
	type NameSource,
} from "./cluster-names.ts";

/** Of cobra, as bits: no files where there is nothing else, files where there may be, and no space behind what goes on. */
const directives = { files: 0, noFiles: 4, goesOn: 6 } as const;
/** 300 ms, of which the program's own start and its end, which its clock does not see, take 50. */
const answerWithinMs = 250;
/** To ask a cluster takes as long as the start has taken, and longer on a busy machine: begun later, it would be waited for and come too late. */
const latestBeginMs = 150;
/** Of a request in the background. */
const backgroundWithinMs = 5_000;

interface Completed {
	readonly values: readonly Completion[];
	readonly directive: (typeof directives)[keyof typeof directives];
}

interface CompleteOptions {
	readonly commands: readonly Command[];
	/** Milliseconds since the process began. */
	readonly now: () => number;
	/** Starts a process that requests the names of this line; the shell does not wait for it. */
	readonly askInBackground?: (words: readonly string[]) => Promise<void>;
	/** How the contexts of the line are opened; for tests. */
	readonly open?: typeof openContexts;
	/** By which kept names grow old; for tests. */
	readonly wallClock?: () => number;
	/** Calls `end` once the milliseconds are over, unless what it returns is called before; for tests. */
	readonly startTimer?: (end: () => void, ms: number) => () => void;
}

function startRealTimer(end: () => void, ms: number): () => void {
	const timer = setTimeout(end, ms);
	return () => clearTimeout(timer);
}

/** `words`: all that was typed after the program's name; the last one is what is being typed, and may be empty. */
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
	// Whatever goes wrong, a person who types is told of it when the command runs.
	const found = await answer(words, env, commands, source).catch(() => nothing);
	stopTimer();
	for (const { value, about } of found.values) {
		streams.stdout.write(about === undefined ? `${value}\n` : `${value}\t${about}\n`);
	}
	streams.stdout.write(`:${found.directive}\n`);
	if (source.end()) await askInBackground?.(words);
	return 0;
}

/** For the next key: requests the names that this line needs, and prints nothing. */
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
	// The next key, or the command itself, shows what is wrong.
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
	const { command, rest } = findCommand(before, commands);
	const table: FlagTable = { ...globalFlags, ...command?.flags, help: { kind: "boolean", describe: "Show help" } };
	const line: TypedLine = { table, before: rest, env, source };
	const [, prefix = "", name = "", value = ""] = /^(--([^=]+)=)(.*)$/s.exec(typed) ?? [];
	if (name !== "") return flagValues({ name, prefix, typed: value }, line);
	const waiting = flagThatWaits(before, table);
	// What waits for its value is not read yet.
	if (waiting !== undefined)
		return flagValues({ name: waiting, prefix: "", typed }, { ...line, before: rest.slice(0, -1) });
	if (typed.startsWith("-")) {
		const values = Object.entries(table)
			.filter(([name]) => name.length > 1)
			.map(([name, { describe }]) => ({ value: `--${name}`, about: describe }));
		return starting(values, typed);
	}
	if (!command) return starting(commandWords(commands), typed);
	if (command.name === "report") return { values: [], directive: directives.files };
	const { values } = await wordsOf(command, typed, line, commands);
	return starting(values, typed);
}

interface TypedLine {
	readonly table: FlagTable;
	/** All before what is being typed, without the command. */
	readonly before: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly source: NameSource;
}

function starting(values: readonly Completion[], typed: string): Completed {
	const fitting = values.filter(({ value }) => value.startsWith(typed));
	const goesOn = fitting.length > 0 && fitting.every(({ value }) => value.endsWith("/"));
	return { values: fitting, directive: goesOn ? directives.goesOn : directives.noFiles };
}

function commandWords(commands: readonly Command[]): readonly Completion[] {
	return commands
		.filter(({ name }) => !name.includes(" "))
		.map(({ name, describe }) => ({ value: name, about: describe }));
}

/** The longest name that the line begins with; flags may stand before it. */
function findCommand(
	before: readonly string[],
	commands: readonly Command[],
): { readonly command: Command | undefined; readonly rest: readonly string[] } {
	const at = before.findIndex((word) => commands.some(({ name }) => name === word));
	const [first = "", second = ""] = at < 0 ? [] : before.slice(at);
	const both = commands.find(({ name }) => name === `${first} ${second}`);
	const command = both ?? commands.find(({ name }) => name === first);
	const count = both ? 2 : 1;
	return { command, rest: command ? before.filter((_, index) => index < at || index >= at + count) : before };
}

/** The flag whose value comes next: the last word is one that takes a value. */
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
	// Of a list the last one is being typed.
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
			// "none|server|client" are the values, "FILE" is a word for one.
			return /^[a-z]+(\|[a-z]+)*$/.test(flag.value ?? "")
				? (flag.value ?? "").split("|").map((value) => ({ value }))
				: [];
	}
}

/** What may stand behind the command. */
async function wordsOf(
	{ name, words }: Command,
	typed: string,
	line: TypedLine,
	commands: readonly Command[],
): Promise<{ readonly values: readonly Completion[] }> {
	const below = commands
		.filter((each) => each.name.startsWith(`${name} `))
		.map((each) => ({ value: each.name.slice(name.length + 1), about: each.describe }));
	// "bash|zsh", "[list]".
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

/** "pod/NAME", "node/NAME" and "budget/NAME": those kinds, then the names of one. */
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

/** As "node" in one context, as "context/node" in several. */
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

/** Names of all contexts, each once. */
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

/** As far as they can be read: a line is not finished while it is typed. */
function typedFlags(before: readonly string[], table: FlagTable): Readonly<Record<string, unknown>> {
	return joinValues(readArguments(before, table).flags, table);
}
