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
