// Targets for the plugin's command lines, and for durations and selectors in them.
import fc from "fast-check";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { formatDuration, formatElapsed, parseDuration } from "../../../plugin/flags/duration.ts";
import { isLabelSelector } from "../../../plugin/flags/label-selector-text.ts";
import { run } from "../../../plugin/run-command.ts";
import { KubeconfigError, UsageError } from "../../../plugin/terminal/errors.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { attemptAsync, demandClearText, demandPrintable } from "../clear-error.ts";
import { asyncTarget, demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { durations, pluginWords, selectorTexts } from "../seed-configs.ts";
import { editedText } from "../text-edits.ts";

const word = fc.oneof(
	{ weight: 5, arbitrary: fc.constantFrom(...pluginWords) },
	{ weight: 1, arbitrary: editedText(pluginWords, ["=", "-", "--", "a", ",", "9".repeat(40)]) },
);
const words = fc.array(word, { maxLength: 6 });
const named = fc.tuple(fc.constantFrom("drain", "evict", "cordon", "budgets", "version"), words);
/** Words are limited to 300 characters, because messages quote what the user typed. */
const argv = fc
	.oneof(
		words,
		named.map(([name, rest]) => [name, ...rest]),
	)
	.map((all) => all.map((each) => each.slice(0, 300)));

const argvTarget: FuzzTarget = {
	name: "argv",
	reads: "the plugin's command lines",
	share: 0.15,
	open: () =>
		asyncTarget(argv, async (words) => {
			const parsed = await attemptAsync(() => parseCommandLine(words), [UsageError, KubeconfigError]);
			if (!parsed) return;
			if (parsed.kind === "help") return demandClearText(parsed.text.slice(0, 3_000), /Flags|Usage|has examples/);
			const { command, input } = parsed;
			for (const [name, flag] of Object.entries(command.flags)) {
				const value = input.flags[name];
				if (value === undefined) continue;
				const kinds = {
					text: "string",
					boolean: "boolean",
					number: "number",
					duration: "number",
					timeout: "number",
					list: "object",
				};
				demand(typeof value === kinds[flag.kind], `--${name} is ${typeof value}`);
				if (flag.kind === "number") demand(Number.isSafeInteger(value), `--${name} is ${JSON.stringify(value)}`);
				if (flag.kind === "duration") demand(Number.isFinite(value), `--${name} is ${JSON.stringify(value)}`);
			}
			// Other values cannot be waited for: a timer would end at once.
			demand(
				input.globals.requestTimeoutMs >= 0 && Number.isFinite(input.globals.requestTimeoutMs),
				"It would wait for nothing",
			);
		}),
};

/** Flags by which a command could reach a server. Without them and a kubeconfig, a command calls nothing and only prints. */
const reaching = /^(-s|--server|--kubeconfig|--cluster|-[a-zA-Z]*s)/;

const runTarget: FuzzTarget = {
	name: "command",
	reads: "whole commands without a kubeconfig, up to what is printed",
	share: 0.15,
	open: () =>
		asyncTarget(argv, async (words) => {
			if (words.some((each) => reaching.test(each))) return;
			const streams = collectStreams();
			const interrupts = new InterruptSource(() => undefined);
			const code = await run(words, { streams, env: { HOME: "/nonexistent" }, interrupts });
			const out = streams.out() + streams.err();
			demand(out.trim() !== "", "It prints nothing");
			demand(!/internal error|bug in kubectl/.test(out), `It has a bug: ${out}`);
			demandClearText(out.slice(0, 3_000));
			demandPrintable(out);
			if (code === 0) return;
			demand(streams.err().trim() !== "", `It ends with ${code} and does not say why`);
		}),
};

const durationTarget: FuzzTarget = {
	name: "duration",
	reads: "durations",
	share: 1,
	open: () =>
		syncTarget(
			fc.tuple(editedText(durations, ["h", "m", "s", ".", "-", "9".repeat(30), "1"]), fc.nat(2 ** 31)),
			([text, ms]) => {
				const parsed = parseDuration(text);
				if (parsed !== undefined) {
					// time.ParseDuration accepts at most 292 years.
					demand(Number.isFinite(parsed) && Math.abs(parsed) <= 2 ** 63 / 1e6, `It took ${text} for ${parsed}`);
					demand(/^[-+]?(0|([\d.]+(ns|us|µs|ms|s|m|h))+)$/.test(text), `It took ${text} for a duration`);
				}
				const shown = formatDuration(ms);
				demand(
					Math.abs((parseDuration(shown) ?? Number.NaN) - ms) < 1e-3,
					`${ms} ms come back from "${shown}" as ${parseDuration(shown)}`,
				);
				demandClearText(formatElapsed(ms));
			},
		),
};

const selectorTarget: FuzzTarget = {
	name: "label-selector",
	reads: "label selectors that people type",
	share: 1,
	open: () =>
		syncTarget(
			editedText(selectorTexts, [
				",",
				"(",
				")",
				"=",
				"!",
				" ",
				"in",
				"notin",
				"a",
				"/",
				".",
				" ".repeat(2_000),
				"a".repeat(2_000),
			]),
			(text) => {
				if (!isLabelSelector(text)) return;
				demand(/^[\w\s\-./=!,()<>]*$/.test(text), `It took ${JSON.stringify(text)} for a selector`);
				const open = text.split("(").length;
				demand(open === text.split(")").length, `It took ${JSON.stringify(text)} with an open bracket`);
			},
		),
};

export const argvTargets: readonly FuzzTarget[] = [argvTarget, runTarget, durationTarget, selectorTarget];
