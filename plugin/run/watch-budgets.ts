// `kubectl xpdb budgets -w`: rows, documents or a screen of what the budgets come to, until somebody ends it.
import { type BudgetName, budgetApi } from "../../disruption/budget.ts";
import { booleanFlag, type CommandDependencies, type CommandInput, textFlag } from "../flags/command.ts";
import { type RowChanges, watchBudgets } from "../fleet/budget-watch.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { WatchClock } from "../fleet/watched-member.ts";
import { BudgetChangeLines } from "../output/budget-changes.ts";
import { budgetsDocument } from "../output/budgets-document.ts";
import { isDocument, type ReadFormat, writeDocument } from "../output/read-format.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";

export interface WatchOfBudgets {
	readonly fleet: Fleet;
	/** None: all. */
	readonly namespaces: readonly string[];
	readonly format: ReadFormat;
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
}

export async function watchFleetBudgets(watch: WatchOfBudgets): Promise<ExitCode> {
	const { fleet, namespaces, input, deps } = watch;
	const { words } = input;
	const ended = new AbortController();
	const show = deps.interrupts.stop.aborted ? () => undefined : createSink(watch);
	const stop = AbortSignal.any([deps.interrupts.stop, ended.signal]);
	await watchBudgets({
		fleet,
		namespaces,
		...(words.length > 0 && { wants: ({ name }: BudgetName) => words.includes(name) }),
		clock: realClock,
		signal: stop,
		onChanges: show,
	});
	return deps.interrupts.stoppedBy ?? exitCode.done;
}

function createSink({ format, input, deps: { streams } }: WatchOfBudgets): (changes: RowChanges) => void {
	const { stdout, stderr } = streams;
	if (isDocument(format)) {
		return ({ changed, gone, members }) => {
			const clusters = members.map(({ name }) => name);
			const problems = members.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
			const write = (document: object): void => writeDocument(stdout, format, document, { isLine: true });
			for (const row of changed) write(budgetsDocument([row], { problems, clusters }));
			if (gone.length > 0 || changed.length === 0) write(budgetsDocument([], { problems, clusters, gone }));
		};
	}
	if (format === "name") {
		return ({ changed }) => {
			for (const { name } of changed) stdout.write(`xpoddisruptionbudget.${budgetApi.group}/${name}\n`);
		};
	}
	const lines = new BudgetChangeLines({
		isWide: format === "wide",
		headers: !booleanFlag(input, "no-headers"),
		columns: () => stdout.columns,
		now: () => Date.now(),
	});
	const isQuiet = textFlag(input, "ui") === "none";
	return ({ changed, gone, members }) => {
		const rows = lines.rows(changed, gone, members);
		if (rows.length > 0) stdout.write(`${rows.join("\n")}\n`);
		const notes = lines.notes(changed, members);
		if (notes.length > 0 && !isQuiet) stderr.write(`${notes.join("\n")}\n`);
	};
}

const realClock: WatchClock = {
	now: () => performance.now(),
	pause: (ms, signal) =>
		new Promise((resolve, reject) => {
			const leave = (): void => {
				clearTimeout(timer);
				reject(signal.reason);
			};
			const timer = setTimeout(() => {
				signal.removeEventListener("abort", leave);
				resolve();
			}, ms);
			if (signal.aborted) leave();
			else signal.addEventListener("abort", leave, { once: true });
		}),
};
