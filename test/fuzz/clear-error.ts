// Demands what an error needs so that users can act on it.
import { demand, Finding } from "./fuzz-target.ts";

type ErrorClass = new (...args: never[]) => Error;

/** Words in a message that only a bug produces. */
const bugWords: readonly RegExp[] = [
	/\bundefined\b/,
	/\[object /,
	/\bNaN\b/,
	/\n\s+at /,
	/Cannot (read|set) propert/,
	/is not (a function|iterable|defined|a constructor)/,
	/Maximum call stack/,
	/Invalid (array|string) length/,
];

const longestMessage = 4_000;

/** Demands one of these classes and a helpful message that contains all `names`. */
export function demandClear(
	error: unknown,
	classes: readonly ErrorClass[],
	...names: readonly (string | RegExp)[]
): Error {
	if (!(error instanceof Error)) throw new Finding(`It threw what is no error: ${String(error)}`);
	if (error instanceof Finding) throw error;
	if (!classes.some((each) => error instanceof each)) {
		throw new Finding(
			`It threw ${error.constructor.name}, which it does not document: ${error.message}\n${error.stack ?? ""}`,
		);
	}
	demandClearText(error.message, ...names);
	return error;
}

export function demandClearText(text: string, ...names: readonly (string | RegExp)[]): void {
	demand(text.trim() !== "", "The message says nothing");
	for (const word of bugWords) demand(!word.test(text), `The message has ${word} in it: ${text}`);
	demand(text.length <= longestMessage, `The message has ${text.length} characters: ${text.slice(0, 200)}`);
	for (const name of names) {
		const named = typeof name === "string" ? text.includes(name) : name.test(text);
		demand(named, `The message does not name ${name}: ${text}`);
	}
}

/**
 * Control characters except line feed and tab, line separators, direction marks, invisible characters and tags. They are listed here
 * independently of the code under test. The joiner (200d) is allowed, because emoji contain it.
 */
const steering =
	/(?![\n\t])\p{Cc}|[\u00ad\u061c\u115f\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

export function demandPrintable(text: string): void {
	demand(
		!steering.test(text),
		`The text steers the terminal, or hides something: ${JSON.stringify(text.slice(0, 300))}`,
	);
	demand(text.isWellFormed(), `The text has half a character: ${JSON.stringify(text.slice(0, 300))}`);
}

/** Returns the value, or undefined after a clear error of these classes. */
export function attempt<T>(
	work: () => T,
	classes: readonly ErrorClass[],
	...names: readonly (string | RegExp)[]
): T | undefined {
	try {
		return work();
	} catch (error) {
		demandClear(error, classes, ...names);
		return undefined;
	}
}

export async function attemptAsync<T>(
	work: () => Promise<T>,
	classes: readonly ErrorClass[],
	...names: readonly (string | RegExp)[]
): Promise<T | undefined> {
	try {
		return await work();
	} catch (error) {
		demandClear(error, classes, ...names);
		return undefined;
	}
}
