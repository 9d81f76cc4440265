// Caches the declared fleet for checking other agents' calls, and for forwarding calls to members.
//
// Guarantee: the age of an answer counts from before its request. A late answer to an older request does not replace a newer one, and
// failures are not cached. A renewal may use an older answer instead of waiting for a slow read, because it only keeps what its caller
// acquired as a member. If that answer is older than a second, a new read starts, so that the next renewal is judged by a newer list.
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";

interface RecentFleetOptions {
	readonly getFleet: () => Promise<DeclaredFleet>;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
}

/** The maximum age for calls that do not acquire, count or commit. Renewals accept an older answer (`lastRead`). */
const recentForMs = 1_000;

export class RecentFleet {
	readonly #options: RecentFleetOptions;
	#asked: { readonly fleet: Promise<DeclaredFleet>; readonly askedAt: number } | undefined;
	#answered: { readonly fleet: DeclaredFleet; readonly askedAt: number } | undefined;

	constructor(options: RecentFleetOptions) {
		this.#options = options;
	}

	async read(): Promise<DeclaredFleet> {
		const { getFleet, now } = this.#options;
		const askedAt = now();
		const asked = { fleet: getFleet(), askedAt };
		this.#asked = asked;
		try {
			const fleet = await asked.fleet;
			if (!this.#answered || this.#answered.askedAt <= asked.askedAt) this.#answered = { ...asked, fleet };
			return fleet;
		} catch (error) {
			if (this.#asked === asked) this.#asked = undefined;
			throw error;
		}
	}

	/** Returns the fleet from a read that began less than a second ago, or else from a new read. */
	async recent(): Promise<DeclaredFleet> {
		const asked = this.#asked;
		return asked && this.#isRecent(asked) ? asked.fleet : this.read();
	}

	/** Returns the last answer if its read began within this time. If it is older than a second, a new read starts in parallel. */
	lastRead(withinMs: number): DeclaredFleet | undefined {
		const answered = this.#answered;
		if (!answered || this.#options.now() - answered.askedAt > withinMs) return undefined;
		// A caller that needs the fleet reads it itself and gets the error.
		if (!this.#isRecent(answered)) this.recent().catch(() => undefined);
		return answered.fleet;
	}

	#isRecent({ askedAt }: { readonly askedAt: number }): boolean {
		return this.#options.now() - askedAt < recentForMs;
	}
}
