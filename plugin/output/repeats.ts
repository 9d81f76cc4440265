// What would be told again and again is told once, then after a while, or when it says something else.
import type { PodEvent } from "../events/events.ts";

/** A wait that goes on as it was. */
export const repeatAfterMs = 60_000;

/** A pod, as who waits. */
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

	/** Whether `text` about `subject` is worth a line now; if so, it counts as told. */
	isNews(subject: string, text: string): boolean {
		const last = this.#told.get(subject);
		if (last && last.text === text && this.#now() - last.at < this.#everyMs) return false;
		this.#told.set(subject, { text, at: this.#now() });
		return true;
	}

	/** The subject is over: the next word about it is news. */
	forget(subject: string): boolean {
		return this.#told.delete(subject);
	}
}

/** Soon enough to be true, and too seldom to flood where it goes to and fro. */
export const holdersAtMostEveryMs = 5_000;

/** Who uses a budget up, as it was told last. */
export class Holders {
	readonly #now: () => number;
	readonly #told = new Map<string, { readonly key: string; readonly at: number }>();

	constructor(now: () => number) {
		this.#now = now;
	}

	/** Whether it is what everybody has read by now. */
	isKnown(budget: string, key: string): boolean {
		return this.#told.get(budget)?.key === key;
	}

	/** Whether that they are others now is worth a line; if so, it counts as told. */
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

/** Counts what is told of one subject within a while. */
export class Crowds {
	readonly #everyMs: number;
	readonly #now: () => number;
	readonly #counts = new Map<string, { count: number; readonly since: number }>();

	constructor(everyMs: number, now: () => number) {
		this.#everyMs = everyMs;
		this.#now = now;
	}

	/** How many there are now, this one included. */
	add(subject: string): number {
		const last = this.#counts.get(subject);
		const current = last && this.#now() - last.since < this.#everyMs ? last : { count: 0, since: this.#now() };
		current.count += 1;
		this.#counts.set(subject, current);
		return current.count;
	}
}
