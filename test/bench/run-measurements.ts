// Runs measurements in order, grouped by the clusters that they need. If one fails, the others continue.
import { messageOf } from "../../demo/machine/setup-error.ts";
import { ProgramsUnavailableError } from "../controlplane/fleet-errors.ts";
import { type Bench, startBench } from "./bench.ts";
import type { Measurement } from "./measurement.ts";
import { type Ratio, ratios } from "./ratios.ts";
import type { Outcome } from "./report.ts";
import { limitMs, quietMs, runsThatFit } from "./runs-that-fit.ts";
import { spreadOf } from "./statistics.ts";

export interface RunOptions {
	readonly short: boolean;
	/** Whether only to test the measurements, with fewer pods. A failed measurement then fails the run. */
	readonly isSmall: boolean;
	/** A folder for CPU profiles of the agents. */
	readonly profiles: string | undefined;
	/** The plugin file to measure, by default dist/kubectl-xpdb.js. */
	readonly plugin: string | undefined;
	readonly signal: AbortSignal;
	readonly log: (line: string) => void;
}

export interface RunResult {
	/** In the order of the table. */
	readonly outcomes: readonly Outcome[];
	readonly details: Readonly<Record<string, unknown>>;
	/** Whether nothing was measured, or a measurement failed while `isSmall`. */
	readonly failed: boolean;
}

/** As in agent/deploy/deployment.yaml, where the heap is 29 % of the memory limit of 224Mi. */
export const agentFlags = "--max-semi-space-size=1 --max-old-space-size=64 --expose-gc";

const places = {
	fleet: { clusters: 3, nodes: 4 },
	wan: { clusters: 3, nodes: 4, links: true },
	crowd: { clusters: 1, nodes: 10 },
	screens: { clusters: 3, nodes: 4 },
} as const;
/** In the order in which they start. */
const placeNames = ["fleet", "crowd", "wan", "screens"] as const;

export async function runMeasurements(chosen: readonly Measurement[], options: RunOptions): Promise<RunResult> {
	const { short, signal, log } = options;
	const startedAt = performance.now();
	const found = new Map<string, Outcome>();
	const details: Record<string, unknown> = {};
	const inOrder = placeNames.flatMap((place) => chosen.filter(({ on }) => on === place));
	let brokenCount = 0;
	let measuredMs = 0;
	let expectedMs = 0;

	function giveUp(measurement: Measurement, reason: string): void {
		brokenCount += 1;
		leaveOut(measurement, reason);
	}

	function leaveOut(measurement: Measurement, reason: string): void {
		for (const ratio of ratiosOf(measurement)) found.set(ratio.name, { kind: "missing", ratio, reason });
		log(`${measurement.name}: left out: ${reason}`);
	}

	async function measure(measurement: Measurement, bench: Bench, runs: number): Promise<void> {
		log(`${measurement.name} (${measurement.ratios.join(", ")})`);
		const since = performance.now();
		const figures = await measurement.measure(bench, runs);
		const tookMs = performance.now() - since;
		if (measurement.seconds !== undefined) measuredMs += tookMs;
		expectedMs += quietMs(measurement, runs);
		details[measurement.name] = { runs, samples: figures.ratios, ...figures.details };
		for (const ratio of ratiosOf(measurement)) {
			const samples = figures.ratios[ratio.name] ?? [];
			const reason = figures.missing?.[ratio.name];
			if (samples.length > 0) found.set(ratio.name, { kind: "measured", ratio, spread: spreadOf(samples) });
			else if (reason !== undefined) found.set(ratio.name, { kind: "missing", ratio, reason });
		}
		log(`  took ${(tookMs / 1_000).toFixed(0)} s`);
	}

	async function measureOn(place: Measurement["on"], group: readonly Measurement[]): Promise<void> {
		const environment = options.profiles && {
			NODE_OPTIONS: `${agentFlags} --cpu-prof --cpu-prof-dir=${options.profiles}`,
		};
		const bench = await startBench({
			...places[place],
			...(environment && { agentEnvironment: environment }),
			plugin: options.plugin,
			isSmall: options.isSmall,
			signal,
			log,
		});
		try {
			for (const measurement of group) {
				signal.throwIfAborted();
				const elapsedMs = performance.now() - startedAt;
				if (elapsedMs > limitMs) {
					leaveOut(measurement, "the run would have taken longer than 15 minutes");
					continue;
				}
				const rest = inOrder.slice(inOrder.indexOf(measurement));
				const runs = short ? measurement.runs.short : runsThatFit(rest, { elapsedMs, measuredMs, expectedMs });
				try {
					await measure(measurement, bench, runs);
				} catch (error) {
					giveUp(measurement, messageOf(error));
				}
			}
		} finally {
			await bench.stop();
		}
	}

	for (const place of placeNames) {
		const group = inOrder.filter(({ on }) => on === place);
		for (const measurement of group) {
			if (short && measurement.runs.short === 0) leaveOut(measurement, "a short run does without it");
		}
		const rest = group.filter(({ ratios: [name = ""] }) => !found.has(name));
		if (rest.length === 0) continue;
		try {
			await measureOn(place, rest);
		} catch (error) {
			if (signal.aborted || error instanceof ProgramsUnavailableError) throw error;
			for (const measurement of rest) giveUp(measurement, messageOf(error));
		}
	}
	const outcomes = ratios.flatMap(({ name }) => found.get(name) ?? []);
	const failed = outcomes.every(({ kind }) => kind === "missing") || (options.isSmall && brokenCount > 0);
	return { outcomes, details, failed };
}

function ratiosOf(measurement: Measurement): readonly Ratio[] {
	return ratios.filter(({ name }) => measurement.ratios.includes(name));
}
