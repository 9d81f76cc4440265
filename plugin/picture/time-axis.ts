// Places times on the page, and chooses the times to label.

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

/** Even a run of no duration gets this width. */
const shortestMs = second;

/** Returns a place on the page, as a whole number from 0 to 1,000. */
export function placeOf(at: number, { from, to }: TimeRange): number {
	const share = (at - from) / Math.max(to - from, shortestMs);
	return Math.round(Math.min(1, Math.max(0, share)) * 1_000);
}

/** Returns at most eight times, at whole seconds, minutes, hours or days of UTC. */
export function ticksOf({ from, to }: TimeRange): readonly number[] {
	const step =
		// There can be one tick more than steps, because both ends can have one.
		steps.find((each) => (to - from) / each < mostTicks) ??
		24 * hour * (Math.floor((to - from) / (mostTicks * 24 * hour)) + 1);
	const first = Math.ceil(from / step) * step;
	const count = to < first ? 0 : Math.floor((to - first) / step) + 1;
	return Array.from({ length: count }, (_, index) => first + index * step);
}

/** Returns, for example, "12:04:30", in UTC. */
export function clockText(at: number): string {
	return new Date(at).toISOString().slice(11, 19);
}

/** Returns, for example, "2026-01-01 12:04:30", in UTC. */
export function dateText(at: number): string {
	return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}
