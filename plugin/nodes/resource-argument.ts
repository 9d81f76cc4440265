// Reads a word that names an object as NAME or TYPE/NAME, as kubectl accepts it, and with kubectl's messages. See cli-runtime's builder and
// rest.IsValidPathSegmentName.
import { UsageError } from "../terminal/errors.ts";

export interface ResourceArgument {
	readonly type: string | undefined;
	readonly name: string;
}

/** Throws UsageError if the word is not a valid NAME or TYPE/NAME. */
export function readResourceArgument(word: string, hint?: string): ResourceArgument {
	const [first = "", second, ...more] = word.split("/");
	if (more.length > 0) throw new UsageError("arguments in resource/name form may not have more than one slash", hint);
	if (second === undefined) return { type: undefined, name: requirePathSegment("resource name", first) };
	if (first === "" || second === "") {
		throw new UsageError("arguments in resource/name form must have a single resource and name", hint);
	}
	return { type: first, name: requirePathSegment("resource name", second) };
}

/** Refuses an empty word, which usually comes from an unset variable. It must not select everything or be ignored. Throws UsageError. */
export function refuseEmptyNames(words: readonly string[]): void {
	if (words.includes("")) requirePathSegment("resource name", "");
}

/** Requires a name that stays one part of a URL path. An empty name would request a list, and ".." another path. Throws UsageError. */
export function requirePathSegment(what: "resource name" | "namespace", name: string): string {
	if (name === "") throw new UsageError(`${what} may not be empty`);
	const problems =
		name === "." || name === ".."
			? [`may not be '${name}'`]
			: ["/", "%"].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`);
	if (problems.length === 0) return name;
	throw new UsageError(`invalid ${what} ${JSON.stringify(name)}: [${problems.join(", ")}]`);
}
