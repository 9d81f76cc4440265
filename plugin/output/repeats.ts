// Suppresses repeated lines: a text is printed again only after a while, or when it changes.
import type { PodEvent } from "../events/events.ts";

/** After this time, an unchanged wait is printed again. */
export const repeatAfterMs = 60_000;

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

	/** Whether to print `text` about `subject` now. If so, it counts as printed. */
	isNews(subject: string, text: string): boolean {
		const last = this.#told.get(subject);
		if (last && last.text === text && this.#now() - last.at < this.#everyMs) return false;
		this.#told.set(subject, { text, at: this.#now() });
		return true;
	}

	/** Makes the next text about the subject news. Returns whether anything about it had been printed. */
	forget(subject: string): boolean {
		return this.#told.delete(subject);
	}
}

/** Short enough to be accurate, and long enough to avoid a flood if the pods alternate. */
export const holdersAtMostEveryMs = 5_000;

/** Remembers the pods that use up each budget, as printed last. */
export class Holders {
	readonly #now: () => number;
	readonly #told = new Map<string, { readonly key: string; readonly at: number }>();

	constructor(now: () => number) {
		this.#now = now;
	}

	isKnown(budget: string, key: string): boolean {
		return this.#told.get(budget)?.key === key;
	}

	/** Whether to print a change of these pods now. If so, it counts as printed. False if none were printed before. */
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

export class Crowds {
	readonly #everyMs: number;
	readonly #now: () => number;
	readonly #counts = new Map<string, { count: number; readonly since: number }>();

	constructor(everyMs: number, now: () => number) {
		this.#everyMs = everyMs;
		this.#now = now;
	}

	add(subject: string): number {
		const last = this.#counts.get(subject);
		const current = last && this.#now() - last.since < this.#everyMs ? last : { count: 0, since: this.#now() };
		current.count += 1;
		this.#counts.set(subject, current);
		return current.count;
	}
}
