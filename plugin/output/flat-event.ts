// Prepares events for plain lines: no foreign name may add a line that looks like ours.
import { oneLine } from "../../disruption/printable.ts";
import type { RunEvent } from "../events/events.ts";

/** kubectl also prints servers' messages over several lines. */
const severalLines = new Set(["message", "errors"]);

/** Returns a copy without line breaks, except in messages and errors. */
export function flatEvent(event: RunEvent): RunEvent {
	const copy = structuredClone(event);
	flatten(copy);
	return copy;
}

function flatten(value: object): void {
	for (const [key, child] of Object.entries(value) as [string, unknown][]) {
		if (severalLines.has(key)) continue;
		if (typeof child === "string") Reflect.set(value, key, oneLine(child));
		else if (typeof child === "object" && child !== null) flatten(child);
	}
}
