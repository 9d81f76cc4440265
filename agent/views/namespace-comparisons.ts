// In which namespaces the watches on workloads are compared with lists, bounded: each namespace costs its API server a list of each
// kind every two seconds, and which namespaces are asked for says whoever has a token, a thousand of them in one call.
import type { WatchComparison } from "./watch-comparison.ts";

type Comparison = Pick<WatchComparison<unknown>, "isRecent" | "isIdle" | "wanted" | "close">;

/** Of five kinds, 125 small lists a second; a drain asks for fewer. */
const mostNamespaces = 50;

export class NamespaceComparisons {
	readonly #compare: (namespace: string) => readonly Comparison[];
	readonly #compared = new Map<string, readonly Comparison[]>();

	constructor(compare: (namespace: string) => readonly Comparison[]) {
		this.#compare = compare;
	}

	isRecent(namespace: string): boolean {
		return this.#compared.get(namespace)?.every(({ isRecent }) => isRecent) ?? false;
	}

	/** Nothing where too many are compared already: counts there list for themselves. */
	wanted(namespace: string): void {
		const known = this.#compared.get(namespace);
		if (!known && this.#compared.size >= mostNamespaces) this.#forgetIdle();
		if (!known && this.#compared.size >= mostNamespaces) return;
		const own = known ?? this.#compare(namespace);
		this.#compared.set(namespace, own);
		for (const each of own) each.wanted();
	}

	close(): void {
		for (const each of [...this.#compared.values()].flat()) each.close();
		this.#compared.clear();
	}

	#forgetIdle(): void {
		for (const [namespace, own] of this.#compared) {
			if (!own.every(({ isIdle }) => isIdle)) continue;
			for (const each of own) each.close();
			this.#compared.delete(namespace);
		}
	}
}
