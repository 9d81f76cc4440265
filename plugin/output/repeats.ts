// Suppresses repeated lines: the same text is printed again only after a while, or when it changes.
import type { PodEvent } from "../events/events.ts";

/** After this time, a wait that has not changed is printed again. */
export const repeatAfterMs = 60_000;

/** The subject of a pod's lines. */
export function podSubject({ context, namespace, pod }: PodEvent): string {
	return `pod ${context} ${namespace}/${pod}`;
}

export class Repeats {
	readonly #everyMs: number;
	readonly #now: () => number;
	readonly #told = new Map<string, { readonly text: string; readonly at: number }>();

	constructor(everyMs: number, now: () => number) {
		this.#everyMs = everyMs;
		this.#now = now;
	}

	/** Whether `text` about `subject` should be printed now. If so, it counts as printed. */
	isNews(subject: string, text: string): boolean {
		const last = this.#told.get(subject);
		if (last && last.text === text && this.#now() - last.at < this.#everyMs) return false;
		this.#told.set(subject, { text, at: this.#now() });
		return true;
	}

	/** Ends the subject: the next text about it is printed. Returns whether anything about it had been printed. */
	forget(subject: string): boolean {
		return this.#told.delete(subject);
	}
}

/** Short enough to be accurate, and long enough to avoid a flood if the pods alternate. */
export const holdersAtMostEveryMs = 5_000;

/** Remembers the pods that use each budget up, as printed last. */
export class Holders {
	readonly #now: () => number;
	readonly #told = new Map<string, { readonly key: string; readonly at: number }>();

	constructor(now: () => number) {
		this.#now = now;
	}

	/** Whether these pods are the ones printed last. */
	isKnown(budget: string, key: string): boolean {
		return this.#told.get(budget)?.key === key;
	}

	/** Whether a change of these pods should be printed now. If so, it counts as printed. False if none were printed before. */
	isNews(budget: string, key: string): boolean {
		const last = this.#told.get(budget);
		if (!last || last.key === key || this.#now() - last.at < holdersAtMostEveryMs) return false;
		this.tell(budget, key);
		return true;
	}

	tell(budget: string, key: string): void {
		this.#told.set(budget, { key, at: this.#now() });
	}
}

/** Counts the lines about one subject within a period. */
export class Crowds {
	readonly #everyMs: number;
	readonly #now: () => number;
	readonly #counts = new Map<string, { count: number; readonly since: number }>();

	constructor(everyMs: number, now: () => number) {
		this.#everyMs = everyMs;
		this.#now = now;
	}

	/** Returns the number so far, including this one. */
	add(subject: string): number {
		const last = this.#counts.get(subject);
		const current = last && this.#now() - last.since < this.#everyMs ? last : { count: 0, since: this.#now() };
		current.count += 1;
		this.#counts.set(subject, current);
		return current.count;
	}
}
