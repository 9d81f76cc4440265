import { budgetApi } from "../../disruption/budget/budget.ts";
import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import type { FleetConnection } from "../fleet/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { budgetLines, budgetNotes } from "../output/budget-lines.ts";
import { budgetsDocument } from "../output/budgets-document.ts";
import { noFleetLine } from "../output/no-fleet-line.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";

export const runBudgets: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "name", "wide"]);
	const everywhere = booleanFlag(input, "all-namespaces");
	if (booleanFlag(input, "watch")) {
		const { runBudgetWatch } = await import("../run/watch-budgets.ts");
		return runBudgetWatch({ input, deps, format });
	}
	const [{ withFleet }, { readBudgetRows }] = await Promise.all([
		import("../run/with-contexts.ts"),
		import("../fleet/budget-table.ts"),
	]);
	const namespacesOf = (contexts: readonly KubeContext[]): readonly string[] =>
		everywhere ? [] : [...new Set(contexts.map(({ namespace }) => namespace))];
	const show = async ({ fleet }: FleetConnection, contexts: readonly KubeContext[]): Promise<ExitCode> => {
		if (!fleet) {
			if (isDocument(format))
				writeDocument(streams.stdout, format, budgetsDocument([], { problems: [], clusters: [] }));
			streams.stderr.write(`${noFleetLine(contexts)}\n`);
			return exitCode.done;
		}
		const namespaces = namespacesOf(contexts);
		const all = await readBudgetRows(fleet, namespaces);
		const missing = input.words.filter((name) => !all.some((row) => row.name === name));
		const rows = input.words.length > 0 ? all.filter(({ name }) => input.words.includes(name)) : all;
		const clusters = fleet.members.map(({ name }) => name);
		if (isDocument(format)) {
			writeDocument(streams.stdout, format, budgetsDocument(rows, { problems: fleet.problems, clusters }));
		} else if (format === "name") {
			for (const { name } of rows) streams.stdout.write(`xpoddisruptionbudget.${budgetApi.group}/${name}\n`);
		} else if (rows.length > 0) {
			const lines = budgetLines(rows, {
				isWide: format === "wide",
				listsPods: format === "wide" || input.words.length > 0,
				headers: !booleanFlag(input, "no-headers"),
				clusters,
				columns: streams.stdout.columns,
				now: Date.now(),
			});
			for (const line of lines) streams.stdout.write(`${line}\n`);
		} else if (missing.length === 0) {
			streams.stderr.write(
				everywhere ? "No resources found\n" : `No resources found in ${namespaces.join(", ")} namespace.\n`,
			);
		}
		const answering = fleet.members.filter(({ id }) => fleet.descriptions.has(id)).map(({ name }) => name);
		for (const row of rows) {
			for (const note of budgetNotes(row, answering, Date.now())) streams.stderr.write(`${note}\n`);
		}
		for (const name of missing) {
			streams.stderr.write(
				`Error from server (NotFound): ${budgetApi.resource}.${budgetApi.group} "${name}" not found\n`,
			);
		}
		for (const problem of fleet.problems) streams.stderr.write(`error: ${problem}\n`);
		if (fleet.problems.length > 0) return exitCode.failedClosed;
		return missing.length > 0 ? exitCode.error : exitCode.done;
	};
	return withFleet(input, deps, show, namespacesOf);
};
