// Writes help in kubectl's layout. yargs' layout cannot be configured enough. It puts flags and their descriptions side by side, so that 80
// columns leave 40 for the text, and it cannot print --grace-period=NUMBER or indented lines.
import type { Command } from "./command.ts";
import { formatDuration } from "./duration.ts";
import type { Flag } from "./flag.ts";
import { globalFlags } from "./global-flags.ts";

export const programName = "kubectl xpdb";

/** A command that is in no group is listed under "Others". */
const groups: readonly (readonly [title: string, commands: readonly string[]])[] = [
	["Nodes", ["evict", "drain", "plan", "explain", "cordon", "uncordon", "ops", "report"]],
	["Budgets", ["budgets", "leases", "suspend", "unsuspend"]],
	["Fleet", ["check", "fleet", "install", "upgrade", "uninstall"]],
	["Plugin", ["completion", "version"]],
];

/** These commands read --namespace. The others accept and ignore it, as kubectl does. */
const inNamespace = ["evict", "explain", "budgets", "leases", "leases release", "suspend", "unsuspend", "check"];
const withoutClusters = ["report", "completion"];

/** Fits a screen of 80 columns and 24 rows, with the prompt below it. Examples are in each command's own help. */
export function overviewText(all: readonly Command[]): string {
	// Subcommands are in the help of their parents, so that the overview fits the screen.
	const commands = all.filter(({ name }) => !name.includes(" "));
	const width = Math.max(...commands.map(({ name }) => name.length));
	const grouped = new Set(groups.flatMap(([, names]) => names));
	const others = commands.filter(({ name }) => !grouped.has(name)).map(({ name }) => name);
	const rows = [...groups, ["Others", others] as const].flatMap(([title, names]) =>
		names
			.flatMap((name) => commands.find((command) => command.name === name) ?? [])
			.map(({ name, describe }, index) => `${(index === 0 ? title : "").padEnd(9)}${name.padEnd(width)}  ${describe}`),
	);
	return [
		"Evict pods and drain nodes under one disruption budget across many clusters.",
		"",
		...rows,
		"",
		`"${programName} COMMAND --help" has examples, "${programName} options" common flags.`,
	].join("\n");
}

/** `all`: every command, from which the subcommands of this one are listed. */
export function commandText({ name, words, describe, examples, flags }: Command, all: readonly Command[]): string {
	const used = [
		...(withoutClusters.includes(name) ? [] : ["contexts", "context"]),
		...(inNamespace.includes(name) ? ["namespace"] : []),
	];
	const shared = Object.entries(globalFlags).filter(([flag]) => used.includes(flag));
	const own = flagLines([...Object.entries(flags), ...shared]);
	const below = subcommandLines(name, all);
	return [
		`${describe}.`,
		"",
		"Examples:",
		...exampleLines(examples),
		...(below.length > 0 ? ["Available Commands:", ...below, ""] : []),
		...(own.length > 0 ? ["Flags:", ...own, ""] : []),
		"Usage:",
		`  ${programName} ${name} ${words} [flags]`.replace("  [", " ["),
		"",
		...(below.length > 0 ? [`Use "${programName} ${name} COMMAND --help" for the help of a subcommand.`] : []),
		`Use "${programName} options" for the flags of all commands.`,
	].join("\n");
}

export function optionsText(): string {
	return `Flags of every command:\n\n${flagLines(Object.entries(globalFlags)).join("\n")}`;
}

/** kubectl lists subcommands like this. "leases release" is a subcommand of "leases". */
function subcommandLines(parent: string, all: readonly Command[]): readonly string[] {
	const below = all.filter(({ name }) => name.startsWith(`${parent} `));
	const words = below.map(({ name }) => name.slice(parent.length + 1));
	const width = Math.max(...words.map((word) => word.length));
	return below.map(({ describe }, index) => `  ${(words[index] ?? "").padEnd(width)}  ${describe}`);
}

function exampleLines(examples: Command["examples"]): readonly string[] {
	return examples.flatMap(([comment, line]) => [`  # ${comment}`, `  ${line}`, ""]);
}

function flagLines(rows: readonly (readonly [string, Flag])[]): readonly string[] {
	return rows.flatMap(([name, flag]) => {
		const value = flag.kind === "boolean" ? "" : `=${flag.value ?? flag.kind.toUpperCase()}`;
		const short = flag.short === undefined ? "    " : `-${flag.short}, `;
		const label = name === flag.short ? `-${name}` : `${short}--${name}`;
		return [`  ${label}${value}`, ...wrap(flag.describe, defaultText(flag)).map((line) => `        ${line}`)];
	});
}

/** With their indentation, these lines fit a terminal of 80 columns. */
const describeWidth = 72;

/** `last` is not broken across lines. */
function wrap(text: string, last: string): readonly string[] {
	const lines: string[] = [];
	for (const word of [...text.split(" "), ...(last === "" ? [] : [last])]) {
		const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
		if (lines.length === 0 || longer.length > describeWidth) lines.push(word);
		else lines[lines.length - 1] = longer;
	}
	return lines;
}

function defaultText(flag: Flag): string {
	if (flag.default === undefined || flag.default === "" || flag.default === false) return "";
	const text =
		flag.kind === "duration" && typeof flag.default === "number" ? formatDuration(flag.default) : String(flag.default);
	return `(default ${text})`;
}
