// Decides whether a command shows a full screen, plain lines or only results.
import { type CommandInput, textFlag } from "../flags/command.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ScreenTerminal, smallestScreen } from "../terminal/screen-terminal.ts";

const choices = ["auto", "full", "plain", "none"] as const;
export type UiChoice = (typeof choices)[number];

/** --ui takes precedence over XPDB_UI. Throws UsageError. */
export function readUiChoice(input: CommandInput, env: NodeJS.ProcessEnv): UiChoice {
	const flag = textFlag(input, "ui");
	const [name, value] = flag === "" ? ["XPDB_UI", env["XPDB_UI"] ?? ""] : ["--ui", flag];
	if (value === "") return "auto";
	const choice = choices.find((each) => each === value);
	if (choice === undefined)
		throw new UsageError(`Invalid ${name} value (${value}). Must be one of ${choices.join(", ")}.`);
	return choice;
}

export function screenProblem(terminal: ScreenTerminal | undefined, env: NodeJS.ProcessEnv): string | undefined {
	const isSet = (name: string): boolean => !["", "0", "false"].includes(env[name] ?? "");
	if (!terminal?.stdin.isTTY || !terminal.stdout.isTTY) return "the input or the output is no terminal";
	if (!terminal.isErrorTerminal) return "what goes to stderr is kept elsewhere";
	if (env["TERM"] === "dumb") return "the terminal cannot move its cursor (TERM=dumb)";
	if (isSet("CI")) return "it runs in continuous integration (CI)";
	if (isSet("INK_SCREEN_READER") || isSet("XPDB_ACCESSIBLE")) return "plain lines are read out better";
	const { columns, rows } = terminal.stdout;
	if (columns < smallestScreen.columns || rows < smallestScreen.rows) {
		return `the terminal has ${columns}x${rows} characters, and a screen needs ${smallestScreen.columns}x${smallestScreen.rows}`;
	}
	return undefined;
}

/** FORCE_COLOR takes precedence over NO_COLOR, as in Node. */
export function wantsColour(env: NodeJS.ProcessEnv): boolean {
	const force = env["FORCE_COLOR"];
	if (force !== undefined) return force !== "0" && force !== "false";
	return (env["NO_COLOR"] ?? "") === "";
}

export function hasUnicode(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
	if (env["XPDB_ASCII"] !== undefined && env["XPDB_ASCII"] !== "" && env["XPDB_ASCII"] !== "0") return false;
	if (platform === "win32") return env["WT_SESSION"] !== undefined || env["TERM_PROGRAM"] === "vscode";
	const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find((value) => value !== undefined && value !== "");
	return /utf-?8/i.test(locale ?? "");
}
