/** Counts of a test run: one for each step without its own tests, and one for each test of a vitest run. */
export interface Tally {
	readonly passed: number;
	readonly failed: number;
	readonly skipped: number;
}

export const onePassed: Tally = { passed: 1, failed: 0, skipped: 0 };
export const oneFailed: Tally = { passed: 0, failed: 1, skipped: 0 };
export const oneSkipped: Tally = { passed: 0, failed: 0, skipped: 1 };
export const nothing: Tally = { passed: 0, failed: 0, skipped: 0 };

export function sum(tallies: readonly Tally[]): Tally {
	return tallies.reduce(
		(total, { passed, failed, skipped }) => ({
			passed: total.passed + passed,
			failed: total.failed + failed,
			skipped: total.skipped + skipped,
		}),
		nothing,
	);
}

export function formatTally({ passed, failed, skipped }: Tally): string {
	return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Exit code 3 means that the step was skipped. */
export function tallyOfExit(code: number): Tally {
	if (code === 3) return oneSkipped;
	return code === 0 ? onePassed : oneFailed;
}
