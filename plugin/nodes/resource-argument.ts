// A word that names an object, NAME or TYPE/NAME, as kubectl takes it (cli-runtime's builder and rest.IsValidPathSegmentName), in its words.
import { UsageError } from "../terminal/errors.ts";

export interface ResourceArgument {
	readonly type: string | undefined;
	readonly name: string;
}

/** Throws UsageError, with the hint. */
export function readResourceArgument(word: string, hint?: string): ResourceArgument {
	const [first = "", second, ...more] = word.split("/");
	if (more.length > 0) throw new UsageError("arguments in resource/name form may not have more than one slash", hint);
	if (second === undefined) return { type: undefined, name: requirePathSegment("resource name", first) };
	if (first === "" || second === "") {
		throw new UsageError("arguments in resource/name form must have a single resource and name", hint);
	}
	return { type: first, name: requirePathSegment("resource name", second) };
}

/** An empty word is a variable that is not set: nobody means all there is by it, or nothing at all. Throws UsageError. */
export function refuseEmptyNames(words: readonly string[]): void {
	if (words.includes("")) requirePathSegment("resource name", "");
}

/** A name that stays one part of a path: an empty one would be a list, ".." something else altogether. Throws UsageError. */
export function requirePathSegment(what: "resource name" | "namespace", name: string): string {
	if (name === "") throw new UsageError(`${what} may not be empty`);
	const problems =
		name === "." || name === ".."
			? [`may not be '${name}'`]
			: ["/", "%"].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`);
	if (problems.length === 0) return name;
	throw new UsageError(`invalid ${what} ${JSON.stringify(name)}: [${problems.join(", ")}]`);
}
