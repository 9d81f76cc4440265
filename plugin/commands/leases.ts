// Implements `kubectl xpdb leases`, once or as a watch.
import type { BudgetScope } from "../../proto/listed-lease.ts";
import {
	booleanFlag,
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	textFlag,
} from "../flags/command.ts";
import { type LeaseSource, type LeasesOfContext, openLeaseSource, readLeases } from "../fleet/context-leases.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { AppendedRows } from "../output/appended-rows.ts";
import {
	type LeaseColumns,
	type ListedContext,
	leaseCells,
	leaseHeaders,
	leaseNotes,
	type LeaseRow,
	leaseRows,
	reservationCells,
	reservationHeaders,
} from "../output/lease-lines.ts";
import { leasesChange, leasesDocument } from "../output/leases-document.ts";
import { isDocument, parseReadFormat, type ReadFormat, writeDocument } from "../output/read-format.ts";
import { fittedLines } from "../output/table.ts";
import { sleep } from "../run/run-runtime.ts";
import { leftFor, screenOfWatch } from "../run/screen-of-watch.ts";
import { type LeaseChanges, watchLeases } from "../run/watch-leases.ts";
import { withContexts } from "../run/with-contexts.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import type { LeaseScreen } from "../ui/open-lease-screen.tsx";

export const runLeases: CommandRunner = async (input, deps) => {
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "name", "wide"]);
	const isWatch = booleanFlag(input, "watch");
	if (isWatch && format === "name")
		throw new UsageError("-w cannot print names", "With -w it is -o json, yaml, wide or none");
	const everywhere = booleanFlag(input, "all-namespaces");
	if (everywhere && input.words.length > 0) {
		throw new UsageError("a budget cannot be named across all namespaces", "Name its namespace with -n");
	}
	return withContexts(input, deps, async (contexts) => {
		const scopesOf = ({ namespace }: KubeContext): readonly BudgetScope[] => {
			if (everywhere) return [];
			return input.words.length > 0 ? input.words.map((name) => ({ namespace, name })) : [{ namespace }];
		};
		const isScreen = isWatch && (format === "table" || format === "wide");
		const names = contexts.map(({ name }) => name);
		// Show the screen first, because connecting to clusters takes a while.
		const opened = isScreen
			? await screenOfWatch(input, deps, ({ openLeaseScreen }, options) =>
					openLeaseScreen({ ...options, contexts: names }),
				)
			: undefined;
		let sources: readonly LeaseSource[] = [];
		let problems: readonly string[] = [];
		const run = async (): Promise<ExitCode> => {
			sources = await Promise.all(contexts.map(openLeaseSource));
			const now = (): number => Date.now();
			const found = await Promise.all(
				contexts.map(async (context, index) => readLeases(sourceAt(sources, index), scopesOf(context), now)),
			);
			// As in kubectl, the namespace is a column if there may be several.
			const namespaces = new Set(contexts.map(({ namespace }) => namespace));
			const isWide = format === "wide";
			const columns = { isWide, hasNamespaces: isWide || everywhere || namespaces.size > 1 };
			problems = problemsOf(found);
			// Without agents there is nothing to watch.
			const screen = found.some(({ kind }) => kind !== "none") ? opened : undefined;
			if (!screen) opened?.close([]);
			const print = screen ? screenPrinter(screen.screen) : printer(format, columns, input, deps);
			print.first(found);
			if (!isWatch) return exitCodeOf(found);
			await Promise.all(
				contexts.map(async (context, index) => {
					const first = found[index];
					if (!first || first.kind === "none") return;
					await watchLeases(sourceAt(sources, index), first, {
						scopes: scopesOf(context),
						open: () => openLeaseSource(context),
						onChanges: (changes) => print.next(changes),
						now,
						pause: sleep,
						stop: screen ? AbortSignal.any([deps.interrupts.stop, screen.left]) : deps.interrupts.stop,
					});
				}),
			);
			return screen?.left.aborted ? screen.code : exitCodeOf(found);
		};
		try {
			return await (opened ? Promise.race([run(), leftFor(opened)]) : run());
		} finally {
			opened?.close(problems);
			for (const source of sources) if (source.kind === "reached") source.close();
		}
	});
};

function sourceAt(sources: readonly LeaseSource[], index: number): LeaseSource {
	const source = sources[index];
	if (!source) throw new Error("a context without its agents");
	return source;
}

/** Returns the exit code: 4 if a cluster was not reached, and 1 for any other failure, such as a missing permission. */
function exitCodeOf(found: readonly LeasesOfContext[]): ExitCode {
	const failed = found.filter(({ kind }) => kind === "failed");
	if (failed.length === 0) return exitCode.done;
	return failed.some((each) => each.kind === "failed" && each.unreachable) ? exitCode.failedClosed : exitCode.error;
}

function problemsOf(found: readonly LeasesOfContext[]): readonly string[] {
	return found.flatMap((each) => (each.kind === "failed" ? [`${each.context}: ${each.problem}`] : []));
}

function listedRows(found: readonly LeasesOfContext[]): readonly LeaseRow[] {
	return leaseRows(found.filter((each): each is ListedContext => each.kind === "listed"));
}

function screenPrinter(screen: LeaseScreen): Printer {
	return {
		first(found) {
			screen.see({ changed: listedRows(found), gone: [] });
			const none = found.flatMap((each) =>
				each.kind === "none" ? [`${each.context}: no xpdb agent in this cluster`] : [],
			);
			for (const problem of [...none, ...problemsOf(found)]) screen.see({ changed: [], gone: [], problem });
		},
		next: ({ changed, gone, problem, recovered }) => {
			const news = problem ?? (recovered === undefined ? undefined : `${recovered}: the agents answer again`);
			screen.see({ changed, gone, ...(news !== undefined && { problem: news }) });
		},
	};
}

interface Printer {
	first(found: readonly LeasesOfContext[]): void;
	next(changes: LeaseChanges): void;
}

function printer(
	format: ReadFormat,
	shown: LeaseColumns,
	input: CommandInput,
	{ streams }: CommandDependencies,
): Printer {
	const { stdout, stderr } = streams;
	const { isWide } = shown;
	const hasHeaders = !booleanFlag(input, "no-headers");
	const rows = new AppendedRows({
		...(hasHeaders && { headers: leaseHeaders(shown) }),
		columns: () => stdout.columns,
	});
	const print = (lines: readonly string[]): void => lines.forEach((line) => stdout.write(`${line}\n`));
	const tell = (notes: readonly string[]): void => notes.forEach((note) => stderr.write(`${note}\n`));
	return {
		first(found) {
			const listed = listedRows(found);
			const problems = problemsOf(found);
			const isLine = booleanFlag(input, "watch");
			if (isDocument(format)) writeDocument(stdout, format, leasesDocument(listed, problems), { isLine });
			else if (format === "name") print(listed.map(({ lease }) => `lease.coordination.k8s.io/${lease.name}`));
			else if (listed.length > 0) {
				print(rows.lines(listed.map((row) => leaseCells(row, shown))));
				const reserved = isWide ? listed.flatMap(reservationCells) : [];
				if (reserved.length > 0)
					print(["", ...fittedLines(hasHeaders ? reservationHeaders : undefined, reserved, stdout.columns)]);
			} else if (found.some(({ kind }) => kind === "listed")) {
				stderr.write("No Leases found: no run has used these budgets yet\n");
			}
			tell(listed.flatMap(leaseNotes));
			tell(found.flatMap((each) => (each.kind === "none" ? [`${each.context}: no xpdb agent in this cluster`] : [])));
			tell(problems.map((problem) => `error: ${problem}`));
		},
		next({ changed, gone, problem, recovered }) {
			const problems = problem === undefined ? [] : [problem];
			const change = leasesChange(changed, { gone, problems, recovered });
			if (isDocument(format)) writeDocument(stdout, format, change, { isLine: true });
			else print(rows.lines([...changed, ...gone].map((row) => leaseCells(row, shown))));
			tell([...changed.flatMap(leaseNotes), ...problems.map((each) => `error: ${each}`)]);
			if (recovered !== undefined) tell([`${recovered}: the agents answer again`]);
		},
	};
}
