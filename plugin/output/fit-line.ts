// Formats an event as one line of less than 64 KiB, so that readers can use a fixed buffer. A longer event loses parts of its longest
// fields and is marked as truncated.
import { printable } from "../../disruption/printable.ts";

type Fields = Record<string, unknown>;

/** Including the newline. */
export const maxLineBytes = 65_535;

export function fitLine(event: Readonly<Fields>): string {
	let text = lineOf(event);
	if (fits(text)) return text;
	// A deep copy, because other readers use the event too.
	const cut: Fields = { ...structuredClone(event), truncated: true };
	for (text = lineOf(cut); !fits(text); text = lineOf(cut)) halveLongest(cut);
	return text;
}

/** As printed, because escapes of unprintable characters take space too. */
function lineOf(event: Readonly<Fields>): string {
	return printable(JSON.stringify(event));
}

function fits(text: string): boolean {
	return Buffer.byteLength(text) < maxLineBytes;
}

interface Place {
	readonly size: number;
	readonly halve: () => void;
}

function halveLongest(fields: Fields): void {
	const [longest] = placesOf(fields).toSorted((a, b) => b.size - a.size);
	if (!longest) throw new Error("an event too long for a line has neither a list nor a text");
	longest.halve();
}

function placesOf(value: unknown): readonly Place[] {
	if (typeof value !== "object" || value === null) return [];
	return Object.entries(value).flatMap(([key, child]: [string, unknown]): readonly Place[] => {
		const set = (half: unknown): void => void Reflect.set(value, key, half);
		const inner = placesOf(child);
		if (typeof child === "string" && child.length > 1) {
			const half = child.slice(0, Math.floor(child.length / 2)).toWellFormed();
			return [{ size: Buffer.byteLength(child), halve: () => set(half) }];
		}
		if (Array.isArray(child) && child.length > 1) {
			const size = Buffer.byteLength(JSON.stringify(child));
			return [{ size, halve: () => set(child.slice(0, Math.floor(child.length / 2))) }, ...inner];
		}
		return inner;
	});
}
