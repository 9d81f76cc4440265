// Formats what one decision costs as a table. With two sides, adds the ratio of the first to the second.
import { type RoleTimes, roles } from "./price-side.ts";
import type { RequestCounts } from "./request-counts.ts";
import { median, quantile } from "./statistics.ts";

interface Costs {
	/** By block and eviction. */
	readonly ms: readonly (readonly number[])[];
	/** Milliseconds per eviction, without the idle use. */
	readonly cpu: RoleTimes;
	readonly requests: RequestCounts;
}

export interface Price {
	readonly name: string;
	readonly agentMb: readonly number[];
	readonly idlePerSecond: RoleTimes;
	readonly decision: Costs;
	readonly bare: Costs;
}

/** If a decision and a bare call differ by fewer requests than this, the difference is background noise. */
const fewestRequests = 0.1;

export function formatPrices(prices: readonly Price[]): string {
	const [now, before] = prices;
	const rows: string[][] = [
		["", ...prices.flatMap(({ name }) => [name, "bare", "idle/s"]), ...(before ? ["ratio"] : [])],
	];
	const row = (what: string, of: (price: Price) => readonly number[]): void => {
		const ratio = now && before ? [((of(now)[0] ?? NaN) / (of(before)[0] ?? NaN)).toFixed(2)] : [];
		rows.push([what, ...prices.flatMap((price) => of(price).map(shown)), ...ratio]);
	};
	row("ms, median", ({ decision, bare }) => [quantile(decision.ms.flat(), 0.5), quantile(bare.ms.flat(), 0.5), NaN]);
	row("ms, p90", ({ decision, bare }) => [quantile(decision.ms.flat(), 0.9), quantile(bare.ms.flat(), 0.9), NaN]);
	for (const role of roles) {
		row(`CPU ms: ${role}`, ({ decision, bare, idlePerSecond }) => [
			decision.cpu[role],
			bare.cpu[role],
			idlePerSecond[role],
		]);
	}
	const all = (times: RoleTimes): number => roles.reduce((sum, role) => sum + times[role], 0);
	row("CPU ms: all", ({ decision, bare, idlePerSecond }) => [all(decision.cpu), all(bare.cpu), all(idlePerSecond)]);
	const added = (price: Price): number => all(price.decision.cpu) - all(price.bare.cpu);
	row("CPU ms: added to the bare call", (price) => [added(price), NaN, NaN]);
	row("MB of an agent, median", ({ agentMb }) => [median(agentMb), NaN, NaN]);
	const asked = new Set(prices.flatMap(({ decision }) => [...decision.requests.keys()]));
	for (const what of [...asked].toSorted()) {
		const of = ({ requests }: Costs): number => requests.get(what) ?? 0;
		if (prices.every(({ decision, bare }) => Math.abs(of(decision) - of(bare)) < fewestRequests)) continue;
		row(what, ({ decision, bare }) => [of(decision), of(bare), NaN]);
	}
	const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
	const table = rows.map((cells) =>
		cells
			.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
			.join("  "),
	);
	if (!now || !before) return table.join("\n");
	const ratios = now.decision.ms.map((ms, block) => quantile(ms, 0.5) / quantile(before.decision.ms[block] ?? [], 0.5));
	return [
		...table,
		"",
		`ms, ratio of the medians of each block: median ${median(ratios).toFixed(2)}, ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}`,
	].join("\n");
}

function shown(value: number): string {
	return Number.isNaN(value) ? "" : value.toFixed(1);
}
