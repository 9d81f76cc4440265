// What a shell asks for at the Tab key, for `kubectl xpdb` by kubectl itself (kubectl_complete-xpdb) and for `kubectl-xpdb` by the
// scripts of `completion`: a value a line with what it is, and at the end a directive as cobra has it.
//
// Somebody waits with the finger on the key: an answer comes within 100 ms of the start of the process, or none. Commands and flags are
// known here and come at once; what a cluster has is asked for with the time that is left, in the context that the line names. Not yargs'
// completion: it knows neither descriptions in kubectl's form nor directives.
import { budgetApi } from "../../disruption/budget.ts";
import { isRecord } from "../../disruption/record.ts";
import type { Command, CommandDependencies } from "../flags/command.ts";
import type { Flag, FlagTable } from "../flags/flag.ts";
import { globalFlags, readGlobalFlags } from "../flags/global-flags.ts";
import { joinValues, readArguments } from "../flags/pflag.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { openContexts } from "../kubernetes/open-contexts.ts";

/** Of cobra, as bits: no files where there is nothing else, files where there may be, and no space behind what goes on. */
const directives = { files: 0, noFiles: 4, goesOn: 6 } as const;
/** As much as a person takes for at once: 100 ms, of which the program's own start and its end, which its clock does not see, take 20. */
const answerWithinMs = 80;
/** To ask a cluster takes nearly twice as long as the start has taken: after a longer one it would come too late, and be waited for all the same. */
const latestBeginMs = 35;
/** Of the kinds that a cluster may have thousands of. */
const mostObjects = 500;

export interface Completion {
	readonly value: string;
	readonly about?: string;
}

interface Completed {
	readonly values: readonly Completion[];
	readonly directive: (typeof directives)[keyof typeof directives];
}

interface CompleteOptions {
	readonly commands: readonly Command[];
	/** Milliseconds since the process began. */
	readonly now: () => number;
	/** How the contexts of the line are opened; for tests. */
	readonly open?: typeof openContexts;
}

/** `words`: all that was typed after the program's name; the last one is what is being typed, and may be empty. */
export async function complete(
	words: readonly string[],
	{ streams, env }: Pick<CommandDependencies, "streams" | "env">,
	options: CompleteOptions,
): Promise<0> {
	const stop = new AbortController();
	const beganMs = options.now();
	if (beganMs > latestBeginMs) stop.abort();
	const timer = setTimeout(() => stop.abort(), Math.max(answerWithinMs - beganMs, 0));
	// Whatever goes wrong, a person who types is told of it when the command runs.
	const found = await answer(words, env, stop.signal, options).catch(() => nothing);
	clearTimeout(timer);
	for (const { value, about } of found.values) {
		streams.stdout.write(about === undefined ? `${value}\n` : `${value}\t${about}\n`);
	}
	streams.stdout.write(`:${found.directive}\n`);
	return 0;
}

const nothing: Completed = { values: [], directive: directives.noFiles };

async function answer(
	words: readonly string[],
	env: NodeJS.ProcessEnv,
	signal: AbortSignal,
	{ commands, open }: CompleteOptions,
): Promise<Completed> {
	const typed = words.at(-1) ?? "";
	const before = words.slice(0, -1);
	const { command, rest } = findCommand(before, commands);
	const table: FlagTable = { ...globalFlags, ...command?.flags, help: { kind: "boolean", describe: "Show help" } };
	const line: TypedLine = { table, before: rest, env, signal, open };
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
	readonly signal: AbortSignal;
	readonly open: typeof openContexts | undefined;
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
			return namesOf(line, "/api/v1/namespaces");
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
	const fixed = words.split("|").map((word) => word.trim());
	if (fixed.every((word) => /^[a-z]+$/.test(word))) return { values: fixed.map((value) => ({ value })) };
	if (words.startsWith("NODE")) return { values: await nodesOf(line) };
	if (words.startsWith("POD")) return { values: await namesOf(line, podsPath) };
	if (words.includes("BUDGET") || words.startsWith("[NAME"))
		return { values: [...below, ...(await namesOf(line, budgetsPath))] };
	if (words.includes("pod/")) return { values: await kindsOf(line, typed) };
	return { values: below };
}

const podsPath = ({ namespace }: KubeContext): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
const budgetsPath = ({ namespace }: KubeContext): string =>
	`/apis/${budgetApi.group}/${budgetApi.version}/namespaces/${encodeURIComponent(namespace)}/${budgetApi.resource}`;

/** "pod/NAME", "node/NAME" and "budget/NAME": those kinds, then the names of one. */
async function kindsOf(line: TypedLine, typed: string): Promise<readonly Completion[]> {
	const [, kind = ""] = /^(pod|node|budget)\//.exec(typed) ?? [];
	const paths = { pod: podsPath, node: "/api/v1/nodes", budget: budgetsPath } as const;
	if (kind !== "pod" && kind !== "node" && kind !== "budget") {
		return Object.keys(paths).map((each) => ({ value: `${each}/` }));
	}
	return (await namesOf(line, paths[kind])).map(({ value, ...more }) => ({ ...more, value: `${kind}/${value}` }));
}

async function contextsOf({ before, table, env }: TypedLine): Promise<readonly Completion[]> {
	const { loadKubeconfig } = await import("../kubernetes/kubeconfig.ts");
	const kubeconfig = loadKubeconfig(readGlobalFlags(typedFlags(before, table)), env);
	return [...kubeconfig.contexts.keys()].map((value) => ({ value }));
}

/** As "node" in one context, as "context/node" in several. */
async function nodesOf(line: TypedLine): Promise<readonly Completion[]> {
	const found = await listed(line, "/api/v1/nodes");
	const isOne = found.length === 1;
	return found.flatMap(({ context, items }) =>
		items.map(({ name }) => (isOne ? { value: name } : { value: `${context}/${name}`, about: `node in ${context}` })),
	);
}

async function operationsOf(line: TypedLine): Promise<readonly Completion[]> {
	const lists = await listed(line, "/api/v1/nodes");
	if (lists.length === 0) return [];
	const { operationAnnotation, parseOperation } = await import("../nodes/operation.ts");
	const byId = new Map<string, Completion>();
	for (const { items } of lists) {
		for (const { annotations } of items) {
			const text = annotations[operationAnnotation];
			const found = text === undefined ? undefined : parseOperation(text);
			if (found?.kind !== "operation") continue;
			const { id, by, since } = found.operation;
			byId.set(id, { value: id, about: `${by} ${since}` });
		}
	}
	return [...byId.values()];
}

/** Names of all contexts, each once. */
async function namesOf(line: TypedLine, path: Path): Promise<readonly Completion[]> {
	const found = await listed(line, path);
	return [...new Set(found.flatMap(({ items }) => items.map(({ name }) => name)))].map((value) => ({ value }));
}

type Path = string | ((context: KubeContext) => string);

interface ListedNames {
	readonly context: string;
	readonly items: readonly { readonly name: string; readonly annotations: Readonly<Record<string, string>> }[];
}

/** Of the contexts that the line names, those that answer in time. */
async function listed(line: TypedLine, path: Path): Promise<readonly ListedNames[]> {
	const { promise: timeIsUp, resolve } = Promise.withResolvers<readonly ListedNames[]>();
	if (line.signal.aborted) return [];
	line.signal.addEventListener("abort", () => resolve([]), { once: true });
	return Promise.race([ask(line, path).catch(() => []), timeIsUp]);
}

async function ask({ before, table, env, signal, open }: TypedLine, path: Path): Promise<readonly ListedNames[]> {
	const quiet = { write: () => undefined, columns: undefined };
	// TLS and all that comes with it take as long to load as all else, and words that are known here need none of it.
	const opened = open ?? (await import("../kubernetes/open-contexts.ts")).openContexts;
	const contexts = opened(readGlobalFlags(typedFlags(before, table)), env, quiet);
	return Promise.all(
		contexts.map(async (context): Promise<ListedNames> => {
			const where = typeof path === "string" ? path : path(context);
			const list = await context.client
				.get<unknown>(`${where}?limit=${mostObjects}`, { signal, retry: false, metadataOnly: "list" })
				.catch(() => undefined);
			const items: readonly unknown[] = isRecord(list) && Array.isArray(list["items"]) ? list["items"] : [];
			return { context: context.name, items: items.flatMap(readItem) };
		}),
	);
}

function readItem(item: unknown): ListedNames["items"] {
	const metadata = isRecord(item) ? item["metadata"] : undefined;
	if (!isRecord(metadata) || typeof metadata["name"] !== "string") return [];
	const annotations = isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
	const texts = Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string");
	return [{ name: metadata["name"], annotations: Object.fromEntries(texts) }];
}

/** As far as they can be read: a line is not finished while it is typed. */
function typedFlags(before: readonly string[], table: FlagTable): Readonly<Record<string, unknown>> {
	return joinValues(readArguments(before, table).flags, table);
}
