// Checks the words of commands that take nodes. Such a command needs names or a selector, unless it names an operation (--resume, --op).
import { type CommandInput, textFlag } from "../flags/command.ts";
import { UsageError } from "../terminal/errors.ts";

/** Throws UsageError, in kubectl's words, if the command has neither words nor a selector, or both. */
export function requireNodes(input: CommandInput, verb: string): void {
	const selector = textFlag(input, "selector");
	const see = `See 'kubectl xpdb ${verb} -h' for help and examples`;
	if (input.words.length === 0 && selector === "") throw new UsageError(`USAGE: ${verb} NODE [flags]`, see);
	if (input.words.length > 0 && selector !== "") {
		throw new UsageError("cannot specify both a node name and a --selector option", see);
	}
}

/** Refuses a flag with an empty value, for example from an unset variable. It must not count as a flag that was left out. */
export function refuseEmptyId(input: CommandInput, flag: "resume" | "op"): void {
	if (textFlag(input, flag) !== "" || !input.given.has(flag)) return;
	throw new UsageError(`--${flag} needs the ID of a drain`, "See 'kubectl xpdb ops' for those that are unfinished");
}

/** Refuses nodes on the command line, because the operation determines them. */
export function refuseNodes(input: CommandInput, flag: string): void {
	if (input.words.length === 0 && textFlag(input, "selector") === "") return;
	throw new UsageError(
		`cannot specify both nodes and ${flag}`,
		`${flag} finds its nodes by what the run wrote on them`,
	);
}
