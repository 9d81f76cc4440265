// Formats times for screens.

/** For example 02:41 or 1:02:41. */
export function clockText(ms: number): string {
	const seconds = Math.max(0, Math.floor(ms / 1_000));
	const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
	return seconds < 3_600 ? minutes : `${Math.floor(seconds / 3_600)}:${minutes}`;
}

/** In local time. Intl would take 10 ms to load before the first frame. */
export function timeOfDay(at: number): string {
	const date = new Date(at);
	return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

function two(value: number): string {
	return String(value).padStart(2, "0");
}

/** For example "4-7 min left". */
export function remainingText([atLeast, atMost]: readonly [number, number | null], dash: string): string {
	const inMinutes = (atMost ?? atLeast) > 120 && atLeast >= 60;
	const unit = inMinutes ? "min" : "s";
	const round = (seconds: number): number => (inMinutes ? Math.round(seconds / 60) : Math.round(seconds));
	// The end depends on something outside the drain.
	if (atMost === null && atLeast === 0) return "time left not known";
	if (atMost === null) return `${round(atLeast)} ${unit} or more left`;
	const [from, to] = [round(atLeast), round(atMost)];
	return from === to ? `${to} ${unit} left` : `${from}${dash}${to} ${unit} left`;
}
