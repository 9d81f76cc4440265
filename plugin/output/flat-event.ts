// Events for plain lines: names of others stay on the line where they are told, so that none of them can add a line that looks like ours.
import { oneLine } from "../../disruption/printable.ts";
import type { RunEvent } from "../events/events.ts";

/** What servers say in several lines, kubectl prints in several lines. */
const severalLines = new Set(["message", "errors"]);

/** A copy without ends of lines in anything but messages. */
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
