// kubectl xpdb budgets
import { budgetApi } from "../../disruption/budget.ts";
import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import { type BudgetRow, readBudgetRows } from "../fleet/budget-table.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { tableLines } from "../output/table.ts";
import { withFleet } from "../run/with-contexts.ts";
import { exitCode } from "../terminal/exit.ts";

export const budgetsSchema = "xpdb.budgets/1.0";

export const runBudgets: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "name", "wide"]);
	const everywhere = booleanFlag(input, "all-namespaces");
	return withFleet(input, deps, async ({ fleet }, contexts) => {
		if (!fleet) {
			if (isDocument(format)) writeDocument(streams.stdout, format, budgetsDocument([], []));
			streams.stderr.write("No xpdb agent and no XPodDisruptionBudget in this cluster\n");
			return exitCode.done;
		}
		const namespaces = everywhere ? [] : [...new Set(contexts.map(({ namespace }) => namespace))];
		const all = await readBudgetRows(fleet, namespaces);
		const missing = input.words.filter((name) => !all.some((row) => row.name === name));
		const rows = input.words.length > 0 ? all.filter(({ name }) => input.words.includes(name)) : all;
		if (isDocument(format)) {
			writeDocument(streams.stdout, format, budgetsDocument(rows, fleet.problems));
		} else if (format === "name") {
			for (const { name } of rows) streams.stdout.write(`xpoddisruptionbudget.${budgetApi.group}/${name}\n`);
		} else if (rows.length > 0) {
			const clusters = format === "wide" ? fleet.members.map(({ name }) => name) : [];
			const headers = ["NAMESPACE", "NAME", "ALLOWED", "HEALTHY", "NEED", "EXPECTED", ...clusters];
			const cells = rows.map((row) => rowCells(row, clusters));
			const lines = tableLines(booleanFlag(input, "no-headers") ? undefined : headers, cells);
			for (const line of lines) streams.stdout.write(`${line}\n`);
		} else if (missing.length === 0) {
			streams.stderr.write(
				everywhere ? "No resources found\n" : `No resources found in ${namespaces.join(", ")} namespace.\n`,
			);
		}
		for (const row of rows) {
			if (row.problem !== undefined)
				streams.stderr.write(`${row.namespace}/${row.name} refuses every eviction: ${row.problem}\n`);
		}
		for (const name of missing) {
			streams.stderr.write(
				`Error from server (NotFound): ${budgetApi.resource}.${budgetApi.group} "${name}" not found\n`,
			);
		}
		for (const problem of fleet.problems) streams.stderr.write(`error: ${problem}\n`);
		if (fleet.problems.length > 0) return exitCode.failedClosed;
		return missing.length > 0 ? exitCode.error : exitCode.done;
	});
};

/** "?" for what nobody knows, which counts as nothing allowed; "off" for a suspended budget, "-" for what it does not need. */
function rowCells(row: BudgetRow, clusters: readonly string[]): readonly string[] {
	const cell = (value: number | undefined): string => (value === undefined ? "?" : String(value));
	return [
		row.namespace,
		row.name,
		row.suspended ? "off" : cell(row.allowed),
		cell(row.healthy),
		row.suspended ? "-" : cell(row.need),
		row.suspended ? "-" : cell(row.expected),
		...clusters.map((name) => {
			const counts = row.perCluster.get(name);
			return counts?.healthy === undefined ? "?" : `${counts.healthy}/${cell(counts.expected)}`;
		}),
	];
}

/** null for what nobody knows. */
function budgetsDocument(rows: readonly BudgetRow[], problems: readonly string[]): object {
	const items = rows.map(({ namespace, name, allowed, healthy, need, expected, suspended, perCluster, problem }) => ({
		namespace,
		name,
		allowed: allowed ?? null,
		healthy: healthy ?? null,
		need: need ?? null,
		expected: expected ?? null,
		suspended,
		clusters: [...perCluster].map(([cluster, counts]) => ({
			name: cluster,
			healthy: counts.healthy ?? null,
			expected: counts.expected ?? null,
		})),
		...(problem !== undefined && { problem }),
	}));
	return { schema: budgetsSchema, items, problems };
}
