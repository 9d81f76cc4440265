// Keeps the highest version that the API server's answers have reached, for each resource. If a consistent answer is older than the highest
// version before its request, etcd was restored from a backup. Then all kept state is invalid, and a resumed watch would stay silent
// without an error.
import { compareResourceVersions, latestResourceVersion } from "../../disruption/resource-version.ts";

/** The highest version that had been seen when a request was sent. */
interface SeenMark {
	readonly resource: string;
	readonly version: string;
	readonly life: number;
}

export class SeenVersions {
	readonly #highest = new Map<string, string>();
	readonly #listeners = new Set<(resource: string) => void>();
	/** How often the versions went back. Answers to requests that were sent before that prove nothing. */
	#life = 0;

	/** Call this before a request whose answer is then passed to `answered` or `written`. */
	mark(resource: string): SeenMark {
		return { resource, version: this.#highest.get(resource) ?? "", life: this.#life };
	}

	/** Records a version that need not be the newest one, from an answer, an event or a bookmark. */
	saw(resource: string, version: string): void {
		this.#highest.set(resource, latestResourceVersion(this.#highest.get(resource) ?? "", version));
	}

	/** Records the version of a consistent list. Returns true if it is older than what was seen before the request. */
	answered(mark: SeenMark, version: string): boolean {
		return this.#judge(mark, version, compareResourceVersions(version, mark.version) < 0);
	}

	/**
	 * Records the version that a write has made, which nothing had before. Returns true if as high a version was seen before the request.
	 */
	written(mark: SeenMark, version: string): boolean {
		return this.#judge(mark, version, compareResourceVersions(version, mark.version) <= 0);
	}

	#judge({ resource, life }: SeenMark, version: string, isOld: boolean): boolean {
		if (isOld && life === this.#life) {
			this.wentBack(resource, version);
			return true;
		}
		this.saw(resource, version);
		return false;
	}

	/** Tells all listeners that everything they keep is invalid. */
	wentBack(resource: string, version: string): void {
		this.#life++;
		this.#highest.clear();
		this.#highest.set(resource, version);
		for (const listener of this.#listeners) listener(resource);
	}

	/** Calls back when the versions went back, before the answer is returned. The returned function unsubscribes. */
	onWentBack(listener: (resource: string) => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}
}
