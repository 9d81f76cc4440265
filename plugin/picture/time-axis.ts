// Where an instant lies on the page, and which instants are written beside it.

/** Milliseconds since the epoch. */
export interface TimeRange {
	readonly from: number;
	readonly to: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const steps = [
	...[1, 2, 5, 10, 15, 30].map((count) => count * second),
	...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
	...[1, 2, 3, 6, 12, 24].map((count) => count * hour),
];
const mostTicks = 8;

/** A run of no time has room for its instant all the same. */
const shortestMs = second;

/** From 0 to 1,000, whole: pictures stretch to the width of the page, and a thousandth is less than a dot. */
export function placeOf(at: number, { from, to }: TimeRange): number {
	const share = (at - from) / Math.max(to - from, shortestMs);
	return Math.round(Math.min(1, Math.max(0, share)) * 1_000);
}

/** Whole seconds, minutes or hours of UTC, at most eight. */
export function ticksOf({ from, to }: TimeRange): readonly number[] {
	const step =
		steps.find((each) => (to - from) / each <= mostTicks) ??
		24 * hour * Math.ceil((to - from) / (mostTicks * 24 * hour));
	const first = Math.ceil(from / step) * step;
	const count = to < first ? 0 : Math.floor((to - first) / step) + 1;
	return Array.from({ length: count }, (_, index) => first + index * step);
}

/** "12:04:30", in UTC. */
export function clockText(at: number): string {
	return new Date(at).toISOString().slice(11, 19);
}

/** "2026-01-01 12:04:30", in UTC. */
export function dateText(at: number): string {
	return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}
