// Implements `kubectl xpdb budgets -w`, with rows, documents or a screen.
import { type BudgetName, budgetApi } from "../../disruption/budget/budget.ts";
import { booleanFlag, type CommandDependencies, type CommandInput } from "../flags/command.ts";
import type { RowChanges } from "../fleet/budget-watch.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { noFleetLine } from "../output/no-fleet-line.ts";
import { BudgetChangeLines } from "../output/budget-changes.ts";
import { budgetsDocument } from "../output/budgets-document.ts";
import { isDocument, type ReadFormat, writeDocument } from "../output/read-format.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import type { ObjectName } from "../ui/shown-object.ts";
import { leftFor } from "./screen-of-watch.ts";
import { readUiChoice } from "./ui-choice.ts";
import { watchClock } from "./watch-clock.ts";
import { keepHeapSmall } from "./watch-heap.ts";
import { openWatchScreen } from "./watch-screen.ts";

interface WatchOfBudgets {
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
	readonly format: ReadFormat;
}

export async function runBudgetWatch(watch: WatchOfBudgets): Promise<ExitCode> {
	const { input, deps, format } = watch;
	const isTable = format === "table" || format === "wide";
	let asked: readonly KubeContext[] = [];
	const explain = async (budget: BudgetName): Promise<readonly string[]> => {
		const { explainForScreen } = await import("./explain-for-screen.ts");
		return explainForScreen(budget, asked, input);
	};
	const readObject = async (object: ObjectName): Promise<readonly string[]> => {
		const { objectForScreen } = await import("./object-for-screen.ts");
		return objectForScreen(object, asked);
	};
	let contextOf = (_cluster: string): string | undefined => undefined;
	const asks = { explain, readObject, contextOf: (cluster: string) => contextOf(cluster) };
	const screen = isTable ? await openWatchScreen(input, deps, asks) : undefined;
	const leaveHeap = keepHeapSmall();
	try {
		// The screen is shown first, because the code that talks to clusters takes long to load.
		const [{ withFleet }, { watchBudgets }] = await Promise.all([
			import("./with-contexts.ts"),
			import("../fleet/budget-watch.ts"),
		]);
		const watching = withFleet(input, deps, async ({ fleet }, contexts) => {
			if (!fleet) {
				screen?.close();
				deps.streams.stderr.write(`${noFleetLine(contexts)}\n`);
				return exitCode.done;
			}
			asked = contexts;
			contextOf = (cluster) => {
				const member = fleet.members.find(({ name }) => name === cluster);
				return member && fleet.contextOf(member.id);
			};
			const everywhere = booleanFlag(input, "all-namespaces");
			const { words } = input;
			await watchBudgets({
				fleet,
				namespaces: everywhere ? [] : [...new Set(contexts.map(({ namespace }) => namespace))],
				...(words.length > 0 && { wants: ({ name }: BudgetName) => words.includes(name) }),
				clock: watchClock,
				signal: screen ? AbortSignal.any([deps.interrupts.stop, screen.left]) : deps.interrupts.stop,
				onChanges: screen ? screen.see : createSink(watch),
				// Rows and documents show each change as it happens, so they need no history.
				...(screen && { onHistories: screen.seeHistories }),
			});
			return screen?.code ?? exitCode.done;
		});
		return await (screen ? Promise.race([watching, leftFor(screen)]) : watching);
	} finally {
		leaveHeap();
		screen?.close();
	}
}

function createSink({ format, input, deps: { streams, env } }: WatchOfBudgets): (changes: RowChanges) => void {
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
	const isQuiet = readUiChoice(input, env) === "none";
	return ({ changed, gone, members }) => {
		const rows = lines.rows(changed, gone, members);
		if (rows.length > 0) stdout.write(`${rows.join("\n")}\n`);
		const notes = lines.notes(changed, members);
		if (notes.length > 0 && !isQuiet) stderr.write(`${notes.join("\n")}\n`);
	};
}
