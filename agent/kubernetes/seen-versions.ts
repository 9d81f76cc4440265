// How far the API server's answers have come, resource by resource. A consistent answer that is older than one seen
// before its request means that etcd was restored from a backup: then nothing that is kept is true any more, and a
// watch that goes on from where it was would stay silent without an error.
import { compareResourceVersions, latestResourceVersion } from "../../disruption/resource-version.ts";

/** What had been seen when a request was sent. */
interface SeenMark {
	readonly resource: string;
	readonly version: string;
	readonly life: number;
}

export class SeenVersions {
	readonly #highest = new Map<string, string>();
	readonly #listeners = new Set<(resource: string) => void>();
	/** Counts how often the server went back: requests sent before prove nothing. */
	#life = 0;

	/** To be taken before a request whose answer is then shown to `answered`. */
	mark(resource: string): SeenMark {
		return { resource, version: this.#highest.get(resource) ?? "", life: this.#life };
	}

	/** A version in an answer, an event or a bookmark that need not be the newest one. */
	saw(resource: string, version: string): void {
		this.#highest.set(resource, latestResourceVersion(this.#highest.get(resource) ?? "", version));
	}

	/** The version of a consistent list, or the new one of a write: true where it is older than what was seen before. */
	answered(mark: SeenMark, version: string): boolean {
		const { resource, life } = mark;
		if (life === this.#life && compareResourceVersions(version, mark.version) < 0) {
			this.wentBack(resource, version);
			return true;
		}
		this.saw(resource, version);
		return false;
	}

	/** Tells everybody that all they keep is void. */
	wentBack(resource: string, version: string): void {
		this.#life++;
		this.#highest.clear();
		this.#highest.set(resource, version);
		for (const listener of this.#listeners) listener(resource);
	}

	/** Calls back, before the answer is handed on, when the server went back. */
	onWentBack(listener: (resource: string) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}
}
