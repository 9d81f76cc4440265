// The words of a command that takes nodes: some of them, or none where a run that is named knows its own.
import { type CommandInput, textFlag } from "../flags/command.ts";
import { UsageError } from "../terminal/errors.ts";

/** kubectl's own complaints about its words. */
export function requireNodes(input: CommandInput, verb: string): void {
	const selector = textFlag(input, "selector");
	const see = `See 'kubectl xpdb ${verb} -h' for help and examples`;
	if (input.words.length === 0 && selector === "") throw new UsageError(`USAGE: ${verb} NODE [flags]`, see);
	if (input.words.length > 0 && selector !== "") {
		throw new UsageError("cannot specify both a node name and a --selector option", see);
	}
}

/** A variable that is not set names no run, and starts no new one either. */
export function refuseEmptyId(input: CommandInput, flag: "resume" | "op"): void {
	if (textFlag(input, flag) !== "" || !input.given.has(flag)) return;
	throw new UsageError(`--${flag} needs the ID of a drain`, "See 'kubectl xpdb ops' for those that are unfinished");
}

/** The nodes are those of a run: they are not named. */
export function refuseNodes(input: CommandInput, flag: string): void {
	if (input.words.length === 0 && textFlag(input, "selector") === "") return;
	throw new UsageError(
		`cannot specify both nodes and ${flag}`,
		`${flag} finds its nodes by what the run wrote on them`,
	);
}
