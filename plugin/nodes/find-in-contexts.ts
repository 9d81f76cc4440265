// Finds what a word of a command names: looks it up in every context. A pod or a node must be in exactly one of them. A context whose API
// server does not answer is asked once and then skipped, so that the command can still work in the others.
import { quote } from "../../disruption/quote.ts";
import { ApiError, ConnectionError, isForbidden, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { commandLine } from "../terminal/command-line.ts";
import { FleetUncoveredError, sameClusterError, UsageError } from "../terminal/errors.ts";

export interface Word {
	/** The context, if the word names it: CONTEXT/NAME. */
	readonly context: KubeContext | undefined;
	readonly rest: string;
	/** The TYPE/ before the name, for messages that must include it. */
	readonly type?: string;
}

/** A context that cannot be searched: its API server gave no answer or, in a lenient search, does not let this user read. */
export interface LostContext {
	readonly context: KubeContext;
	readonly error: ApiError | ConnectionError;
	/** Names that were looked for, and that are missing because the context is lost. */
	readonly named: string[];
}

/** The contexts of a search. If there are several, the search continues without those whose API servers do not answer. */
export class SearchedContexts {
	readonly all: readonly KubeContext[];
	readonly isLenient: boolean;
	readonly #lost = new Map<KubeContext, LostContext>();

	/** `isLenient` is for commands that only read. They also skip contexts in which this user may not read. */
	constructor(all: readonly KubeContext[], { isLenient = false } = {}) {
		this.all = all;
		this.isLenient = isLenient;
	}

	get lost(): readonly LostContext[] {
		return [...this.#lost.values()];
	}

	/** Runs `work` in a context. Undefined if the context is lost, now or from an earlier call. With a single context, throws the error instead. */
	async search<T>(context: KubeContext, work: () => Promise<T>): Promise<T | undefined> {
		if (this.#lost.has(context)) return undefined;
		try {
			return await inContext(context, this.all, work);
		} catch (error) {
			const isLost = error instanceof ConnectionError || (this.isLenient && isForbidden(error));
			if (!isLost || this.all.length === 1) throw error;
			this.#lost.set(context, this.#lost.get(context) ?? { context, error, named: [] });
			return undefined;
		}
	}

	/** Records a name that is missing because its context is lost. */
	miss(context: KubeContext, name: string): void {
		const named = this.#lost.get(context)?.named;
		if (named && name !== "" && !named.includes(name)) named.push(name);
	}

	/**
	 * Keeps what was found in contexts that still answer. A context that fell silent later is lost too, and nothing may happen there.
	 * Throws the error of a lost context if nothing is left.
	 */
	settle<T extends { readonly context: KubeContext }>(
		found: readonly T[],
		nameOf: (each: T) => string = () => "",
	): readonly T[] {
		for (const each of found) this.miss(each.context, nameOf(each));
		const left = found.filter(({ context }) => !this.#lost.has(context));
		const [first] = this.lost;
		if (first && left.length === 0) throw first.error;
		return left;
	}
}

/** Thrown if none of several contexts has the named object. */
export class NowhereFoundError extends UsageError {}

/** Splits CONTEXT/NAME. A context's own name may contain "/": the longest name that fits is used. Throws UsageError for CONTEXT/ alone. */
export function splitContext(word: string, contexts: readonly KubeContext[]): Word {
	const fitting = contexts
		.filter(({ name }) => name !== "" && word.startsWith(`${name}/`))
		.toSorted((a, b) => b.name.length - a.name.length);
	const [context] = fitting;
	if (word === `${context?.name}/`) throw new UsageError("resource name may not be empty");
	return { context, rest: context ? word.slice(context.name.length + 1) : word };
}

/** Says how to reach the context of CONTEXT/..., if the kubeconfig has it but this command does not use it. */
export function absentContextHint(word: string, contexts: readonly KubeContext[]): string | undefined {
	const [first, ...more] = contexts;
	const [absent] = (first?.known ?? [])
		.filter((name) => name !== "" && word.startsWith(`${name}/`))
		.toSorted((a, b) => b.length - a.length);
	if (absent === undefined || contexts.some(({ name }) => name === absent)) return undefined;
	const isContext = `${quote(absent)} is a context of the kubeconfig`;
	if (more.length > 0) return `${isContext}: add it to --contexts`;
	const flag = (...names: readonly string[]): string => commandLine([`--contexts=${names.join(",")}`]);
	return `${isContext}: add ${flag(absent)}${first?.name ? `, or ${flag(first.name, absent)} for both` : ""}`;
}

export interface Hit<T> {
	readonly context: KubeContext;
	readonly found: T;
}

interface Identified {
	readonly metadata?: { readonly uid?: string };
}

/**
 * Like searchForOne(), but throws the error of the context that the word names if that context cannot be searched. `skipped` is called for
 * each context that cannot be searched, if another one has the object. Without `skipped`, such a context is an error.
 */
export async function findInOne<T extends Identified>(
	word: Word,
	contexts: readonly KubeContext[],
	what: string,
	find: (context: KubeContext, name: string) => Promise<T>,
	skipped?: (lost: LostContext) => void,
): Promise<Hit<T>> {
	const searched = new SearchedContexts(contexts, { isLenient: skipped !== undefined });
	const hit = await searchForOne(word, searched, what, find);
	const [found] = searched.settle(hit ? [hit] : []);
	if (!found) throw new Error("not found without a reason");
	for (const lost of searched.lost) skipped?.(lost);
	return found;
}

/**
 * Finds something by name in one context or in all. Undefined if the context that the word names is lost. Throws as searchForAll() does,
 * and UsageError if several contexts have it. Unless the search is lenient, also throws FleetUncoveredError if a context without an answer
 * may have it, too.
 */
export async function searchForOne<T extends Identified>(
	word: Word,
	searched: SearchedContexts,
	what: string,
	find: (context: KubeContext, name: string) => Promise<T>,
): Promise<Hit<T> | undefined> {
	const hits = await searchForAll(word, searched, what, find);
	const [hit, ...others] = hits;
	if (!hit) return undefined;
	if (!word.context && searched.lost.length > 0 && !searched.isLenient)
		throw mayBeElsewhere(word, searched, what, hits);
	if (others.length === 0) return hit;
	throw new UsageError(
		`${what} "${word.rest}" is in more than one context: ${hits.map(({ context }) => context.name).join(", ")}`,
		`Write ${hits.map(({ context }) => writtenIn(context, word)).join(" or ")}`,
	);
}

/**
 * Finds something by name in every context that has it, or in the one that the word names. Empty if that one is lost. With one context,
 * throws the API server's own NotFound. Throws UsageError if none of several contexts has it, or if two of them are the same cluster. If
 * none has it and one gives no answer, throws FleetUncoveredError, or in a lenient search that context's error.
 */
export async function searchForAll<T extends Identified>(
	word: Word,
	searched: SearchedContexts,
	what: string,
	find: (context: KubeContext, name: string) => Promise<T>,
): Promise<readonly Hit<T>[]> {
	const places = word.context ? [word.context] : searched.all;
	const [only] = places;
	if (only && places.length === 1) {
		const found = await searched.search(only, () => find(only, word.rest));
		if (found === undefined) searched.miss(only, word.rest);
		return found === undefined ? [] : [{ context: only, found }];
	}
	const results = await Promise.all(
		places.map((context) =>
			searched.search(context, async () => {
				try {
					return { context, found: await find(context, word.rest) };
				} catch (error) {
					if (isNotFound(error)) return undefined;
					throw error;
				}
			}),
		),
	);
	const hits = results.filter((result) => result !== undefined);
	if (hits.length === 0) {
		const [lost] = searched.lost;
		if (lost) throw searched.isLenient ? lost.error : mayBeElsewhere(word, searched, what, hits);
		const names = places.map(({ name }) => name).join(", ");
		throw new NowhereFoundError(`${what} "${word.rest}" not found in any of the contexts ${names}`);
	}
	for (const { context } of searched.lost) searched.miss(context, word.rest);
	for (const [index, { context, found }] of hits.entries()) {
		const uid = found.metadata?.uid ?? "";
		const twin = hits.slice(index + 1).find((other) => uid !== "" && other.found.metadata?.uid === uid);
		if (twin) throw sameClusterError(context.name, twin.context.name);
	}
	return hits;
}

function writtenIn({ name }: KubeContext, { type, rest }: Word): string {
	return `${name}/${type === undefined ? "" : `${type}/`}${rest}`;
}

/** Returns the error for a name without a context, while a context that may also have the object gives no answer. */
function mayBeElsewhere(
	word: Word,
	{ lost }: SearchedContexts,
	what: string,
	hits: readonly { readonly context: KubeContext }[],
): FleetUncoveredError {
	const missing = lost.map(({ context }) => quote(context.name)).join(", ");
	const where = hits.length > 0 ? `found in ${hits.map(({ context }) => context.name).join(", ")}` : "not found";
	const places = (hits.length > 0 ? hits : lost).map(({ context }) => context);
	return new FleetUncoveredError(
		`${what} ${quote(word.rest)} was ${where}, but may be in context ${missing} too, which gives no answer; nothing was touched`,
		[
			...lost.map(({ context, error }) => `${context.name}: ${error.message}`),
			`Name it with its context: ${places.map((context) => writtenIn(context, word)).join(" or ")}`,
		],
		{ isExplained: true },
	);
}

/** Runs work in one context. If there are several contexts, errors name the one in which they occurred. */
export async function inContext<T>(
	context: KubeContext,
	contexts: readonly KubeContext[],
	work: () => Promise<T>,
): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (contexts.length === 1) throw error;
		if (error instanceof ConnectionError) throw error.inContext(context.name);
		if (!(error instanceof ApiError)) throw error;
		const { code, reason, causes, retryAfterSeconds } = error;
		throw new ApiError(`context ${context.name}: ${error.message}`, { code, reason, causes, retryAfterSeconds });
	}
}
