// Finds when evicted pods were replaced, as far as counts show it. A pod counts as replaced once every budget that covers it has been
// counted with enough healthy pods again. Enough is the number before this run evicted its unreplaced pods, or the expected number if that
// is lower. --for=replaced uses a similar rule. The real time may be earlier, between two counts. A pod has no such time if there was no
// later count.
import { listOf, numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";

interface Recovery {
	/** The last count while none of this run's pods was missing. Counts of the agents' watch are left out. */
	before: number | undefined;
	/** Pods that this run evicts or has evicted, and that are not replaced yet. */
	readonly missing: Set<string>;
}

interface Evicted {
	readonly budgets: Set<string>;
	isGone: boolean;
}

export class Recoveries {
	readonly #budgets = new Map<string, Recovery>();
	readonly #pods = new Map<string, Evicted>();
	readonly #replacedAt = new Map<string, number>();

	see({ type, at, fields }: RecordedEvent): void {
		if (type === "budget.changed") return this.#count(at, fields);
		const key = podKey(fields);
		switch (type) {
			case "pod.evicting":
				return this.#take(key, listOf(fields["budgets"]));
			case "pod.evicted": {
				const pod = this.#pods.get(key);
				if (pod) pod.isGone = true;
				return;
			}
			// The try failed, or this run did not see how it ended.
			case "pod.waiting":
			case "pod.retrying":
			case "pod.failed":
			case "pod.stopped":
			case "pod.gone":
				this.#forget(key);
		}
	}

	/** Returns when the pod was replaced. Undefined if no count shows it. */
	replacedAt(key: string): number | undefined {
		return this.#replacedAt.get(key);
	}

	#take(key: string, budgets: readonly unknown[]): void {
		const names = budgets.filter((budget) => typeof budget === "string");
		this.#pods.set(key, { budgets: new Set(names), isGone: false });
		for (const name of names) this.#budget(name).missing.add(key);
	}

	#count(at: number, fields: RecordedEvent["fields"]): void {
		const name = textOf(fields["budget"]);
		const healthy = numberOf(fields["healthy"]);
		if (name === undefined || healthy === undefined) return;
		const budget = this.#budget(name);
		const { before, missing } = budget;
		if (before !== undefined && healthy >= Math.min(before, numberOf(fields["expected"]) ?? before)) {
			for (const key of missing) {
				const pod = this.#pods.get(key);
				if (!pod?.isGone) continue;
				missing.delete(key);
				pod.budgets.delete(name);
				if (pod.budgets.size === 0) this.#replacedAt.set(key, at);
			}
		}
		// A round counts before it grants anything. Counts of the agents' watch are not used, because they may be a second behind.
		if (missing.size === 0 && fields["usedBy"] === undefined) budget.before = healthy;
	}

	#forget(key: string): void {
		for (const name of this.#pods.get(key)?.budgets ?? []) this.#budgets.get(name)?.missing.delete(key);
		this.#pods.delete(key);
	}

	#budget(name: string): Recovery {
		const known = this.#budgets.get(name) ?? { before: undefined, missing: new Set<string>() };
		this.#budgets.set(name, known);
		return known;
	}
}

/** Returns a key for the pod, with the uid if there is one, because pods may reuse names. */
export function podKey(fields: RecordedEvent["fields"]): string {
	return ["context", "pod", "uid"].map((name) => textOf(fields[name]) ?? "").join(" ");
}
