// Defines which flags of a drain its nodes remember, and which ones the user must type again to resume it.
import type { CommandInput } from "../flags/command.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import { UsageError } from "../terminal/errors.ts";
import { type FlagValue, isFlagValue, type Operation } from "./operation.ts";
import { resumeOperationCommand } from "./resume-command.ts";

type Kind = "text" | "number" | "boolean";

const kept: Readonly<Record<string, Kind>> = {
	"pod-selector": "text",
	"ignore-daemonsets": "boolean",
	timeout: "number",
	for: "text",
	"skip-wait-for-delete-timeout": "number",
	"chunk-size": "number",
	"max-nodes": "number",
	"order-by": "text",
};

/**
 * These flags can lose data or bypass PodDisruptionBudgets. Only the user who resumes the drain may set them, never an annotation. A grace
 * period of 0 kills containers at once, in all clusters, and any user who may patch one node could have written that value.
 */
const typedAgain: readonly string[] = ["force", "delete-emptydir-data", "disable-eviction", "grace-period"];
/** The flags of `typedAgain` that take a value. */
const valued: ReadonlySet<string> = new Set(["grace-period"]);

/** Flags that are not remembered: they select nodes, which carry the annotation anyway, or concern only one run. */
const notKept: readonly string[] = ["selector", "dry-run", "output", "report", "ui", "yes", "resume"];

export const operationFlags = { kept, typedAgain, notKept };

/** Returns this run's flags, in the form that the annotation has. */
export function readOperationFlags({ flags, given }: CommandInput): Pick<Operation, "flags" | "typedAgain"> {
	const remembered: Record<string, FlagValue> = {};
	const again = typedAgain.filter((name) => (valued.has(name) ? given.has(name) : flags[name] === true));
	for (const name of Object.keys(kept)) {
		if (!given.has(name)) continue;
		const value = flags[name];
		if (isFlagValue(value)) remembered[name] = value;
		else again.push(name);
	}
	return { flags: remembered, typedAgain: again };
}

/** Returns the flags as they are written on a command line. */
export function flagWords(names: readonly string[], { flags }: CommandInput): readonly string[] {
	return names.map((name) => (flags[name] === true ? `--${name}` : `--${name}=${String(flags[name])}`));
}

/** Returns a flag to type again as a message shows it. "=..." stands for a value that only the first user knows. */
export function writtenAgain(name: string): string {
	return kept[name] === undefined && !valued.has(name) ? `--${name}` : `--${name}=...`;
}

/** Returns the flags that the user who resumes must type again. Versions before 0.2 kept the grace period among the other flags. */
export function flagsToTypeAgain({
	flags,
	typedAgain: named,
}: Pick<Operation, "flags" | "typedAgain">): readonly string[] {
	return [...named, ...[...valued].filter((name) => flags[name] !== undefined)];
}

/**
 * Returns the input of the resumed run. Flags typed now take precedence. Throws UsageError for missing flags that must be typed again, and
 * for a remembered value of the wrong type.
 */
export function resumeInput(input: CommandInput, operation: Operation): CommandInput {
	const { id } = operation;
	const again = flagsToTypeAgain(operation);
	const missing = again.filter((name) => !input.given.has(name));
	if (missing.length > 0) {
		const suggest = new SuggestedCommands(input.globals);
		throw new UsageError(
			`operation "${id}" was begun with ${missing.map(writtenAgain).join(" and ")}, which must be typed again; nothing was touched`,
			`Continue: ${resumeOperationCommand(id, again.map(writtenAgain), suggest)}`,
		);
	}
	const flags: Record<string, unknown> = { ...input.flags };
	const given = new Set(input.given);
	for (const [name, kind] of Object.entries(kept)) {
		const value = operation.flags[name];
		if (value === undefined || input.given.has(name)) continue;
		if (typeof value !== (kind === "text" ? "string" : kind)) {
			throw new UsageError(`operation "${id}" has a --${name} that is not a ${kind}: type it again`);
		}
		flags[name] = value;
		given.add(name);
	}
	return { ...input, flags, given };
}
