// Limits the namespaces in which the watches on workloads are compared with lists. Each namespace costs the API server one list of each
// kind every 2 s, and any caller with a token can name a thousand namespaces in one call.
import type { WatchComparison } from "./watch-comparison.ts";

type Comparison = Pick<WatchComparison<unknown>, "isRecent" | "isIdle" | "wanted" | "close">;

/** With five kinds, they cost 125 small lists a second. A drain needs fewer namespaces. */
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

	/** Compares the namespace for a while. Does nothing if too many others are compared: counts there then list workloads themselves. */
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
