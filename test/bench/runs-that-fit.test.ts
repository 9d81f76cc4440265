import { describe, expect, test } from "vitest";
import { measurements } from "./plan.ts";
import { limitMs, quietMs, runsThatFit } from "./runs-that-fit.ts";

const ofAll = measurements.filter(({ onlyByName = false }) => !onlyByName);

/** Simulates a run of all measurements, each slower by this factor. Returns its duration and each measurement's number of runs. */
function run(slowness: number): { readonly ms: number; readonly runs: readonly number[] } {
	const runs: number[] = [];
	let expectedMs = 0;
	for (const [index, measurement] of ofAll.entries()) {
		const ms = expectedMs * slowness;
		const count = runsThatFit(ofAll.slice(index), { elapsedMs: ms, measuredMs: ms, expectedMs });
		expectedMs += quietMs(measurement, count);
		runs.push(count);
	}
	return { ms: expectedMs * slowness, runs };
}

describe("runsThatFit()", () => {
	test.each([1, 1.2, 1.4])("has time for all of them in an hour that is slower by %d", (slowness) => {
		const { ms, runs } = run(slowness);
		expect(ms).toBeLessThan(limitMs + 30_000);
		expect(Math.min(...runs)).toBeGreaterThan(0);
	});

	test("repeats as often as there is time for", () => {
		expect(run(0.5).runs).toEqual(ofAll.map(({ runs }) => runs.full));
		expect(Math.max(...run(1).runs)).toBeGreaterThan(1);
		expect(Math.max(...run(3).runs.slice(1))).toBe(1);
	});

	test("repeats a measurement that runs alone in full, and one whose time is not known", () => {
		const began = { elapsedMs: 0, measuredMs: 0, expectedMs: 0 };
		for (const measurement of measurements) expect(runsThatFit([measurement], began)).toBe(measurement.runs.full);
		const unknown = measurements.filter(({ seconds }) => seconds === undefined);
		expect(unknown.map(({ name }) => name)).toContain("links");
		for (const measurement of unknown) {
			const late = { elapsedMs: 10 * limitMs, measuredMs: 1, expectedMs: 1 };
			expect(runsThatFit([measurement, ...ofAll], late)).toBe(measurement.runs.full);
		}
	});
});
