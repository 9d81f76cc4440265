// What an error must be for a person to act on it.
import { demand, Finding } from "./fuzz-target.ts";

type ErrorClass = new (...args: never[]) => Error;

/** What only a bug says. */
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

/** Demands one of these classes and a message that helps; `names` must be in it. */
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

const controlCharacters = /(?![\n\t])\p{Cc}/u;

/** For what is written to a terminal: nothing in it may steer the terminal. */
export function demandPrintable(text: string): void {
	demand(!controlCharacters.test(text), `The text has control characters: ${JSON.stringify(text.slice(0, 300))}`);
	demand(text.isWellFormed(), `The text has half a character: ${JSON.stringify(text.slice(0, 300))}`);
}

/** The value, or undefined where it threw a clear error of these classes. */
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
