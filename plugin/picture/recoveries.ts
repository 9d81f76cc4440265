// When evicted pods were replaced, as far as counts say it: the first count after their end that has, under each budget that covers them,
// as many healthy pods again as before this run took any of those that are not replaced yet, or as many as are expected. So says
// --for=replaced too. It may have been earlier, as nobody counted in between; what was not counted again has no such time.
import { listOf, numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";

interface Recovery {
	/** As it was counted last, when nobody was missing. */
	before: number | undefined;
	/** Pods of this run that are evicted and not replaced. */
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
			// That try was none, or nobody saw what came of it.
			case "pod.waiting":
			case "pod.retrying":
			case "pod.failed":
			case "pod.stopped":
			case "pod.gone":
				this.#forget(key);
		}
	}

	/** Undefined where no count has said so. */
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
		// Before it grants something a round counts. The agents' watch may be a second behind.
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

/** Names come again: a pod is its uid, where there is one. */
export function podKey(fields: RecordedEvent["fields"]): string {
	return ["context", "pod", "uid"].map((name) => textOf(fields[name]) ?? "").join(" ");
}
