// What a word of a command means: looked up in every context, and found in exactly one of them.
import { quote } from "../../disruption/quote.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { commandLine } from "../terminal/command-line.ts";
import { sameClusterError, UsageError } from "../terminal/errors.ts";

export interface Word {
	/** Named in the word itself: CONTEXT/NAME. */
	readonly context: KubeContext | undefined;
	readonly rest: string;
	/** TYPE/ in front of the name, where it has to be written. */
	readonly type?: string;
}

/** In none of several contexts. */
export class NowhereFoundError extends UsageError {}

/** Splits CONTEXT/NAME. Contexts may have "/" in their own names; the longest one that fits is meant. Throws UsageError for CONTEXT/ alone. */
export function splitContext(word: string, contexts: readonly KubeContext[]): Word {
	const fitting = contexts
		.filter(({ name }) => name !== "" && word.startsWith(`${name}/`))
		.toSorted((a, b) => b.name.length - a.name.length);
	const [context] = fitting;
	if (word === `${context?.name}/`) throw new UsageError("resource name may not be empty");
	return { context, rest: context ? word.slice(context.name.length + 1) : word };
}

/** How to come to the context of CONTEXT/..., where the kubeconfig has it and this command does not work in it. */
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

/**
 * Finds something by name in one context or in all. Throws the API server's own NotFound where there is one context,
 * UsageError where it is in none of several or in more than one.
 */
export async function findInOne<T extends { readonly metadata?: { readonly uid?: string } }>(
	word: Word,
	contexts: readonly KubeContext[],
	what: string,
	find: (context: KubeContext, name: string) => Promise<T>,
): Promise<{ readonly context: KubeContext; readonly found: T }> {
	const places = word.context ? [word.context] : contexts;
	const [only] = places;
	if (only && places.length === 1) {
		return { context: only, found: await inContext(only, contexts, () => find(only, word.rest)) };
	}
	const results = await Promise.all(
		places.map((context) =>
			inContext(context, contexts, async () => {
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
	const [hit] = hits;
	const names = places.map(({ name }) => name).join(", ");
	if (!hit) throw new NowhereFoundError(`${what} "${word.rest}" not found in any of the contexts ${names}`);
	if (hits.length > 1) {
		const uid = hit.found.metadata?.uid ?? "";
		const twin = hits.find((other) => other !== hit && uid !== "" && other.found.metadata?.uid === uid);
		if (twin) throw sameClusterError(hit.context.name, twin.context.name);
		const type = word.type === undefined ? "" : `${word.type}/`;
		const written = hits.map(({ context }) => `${context.name}/${type}${word.rest}`);
		throw new UsageError(
			`${what} "${word.rest}" is in more than one context: ${hits.map(({ context }) => context.name).join(", ")}`,
			`Write ${written.join(" or ")}`,
		);
	}
	return hit;
}

/** Work in one context; where there are several, the API server's errors get its name in front. */
export async function inContext<T>(
	context: KubeContext,
	contexts: readonly KubeContext[],
	work: () => Promise<T>,
): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof ApiError) || contexts.length === 1) throw error;
		const { code, reason, causes, retryAfterSeconds } = error;
		throw new ApiError(`context ${context.name}: ${error.message}`, { code, reason, causes, retryAfterSeconds });
	}
}
