// Keeps the declared fleet as it was recently read, for calls that decide nothing.
//
// Guarantee: the age of an answer starts before its request was sent. A late answer to an older request does not replace a newer one, and a
// failure is not an answer. A renewal may use an older answer instead of waiting for a slow read: it only keeps what its caller acquired,
// and that caller was a member then. If that answer is older than a second, a read also starts, so that the next renewal is judged by a
// newer list.
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";

interface RecentFleetOptions {
	/** Reads the fleet as it is declared now. */
	readonly getFleet: () => Promise<DeclaredFleet>;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
}

/** How old the list may be for calls that do not acquire, count or commit. Renewals accept an older one (`lastRead`). */
const recentForMs = 1_000;

export class RecentFleet {
	readonly #options: RecentFleetOptions;
	#asked: { readonly fleet: Promise<DeclaredFleet>; readonly askedAt: number } | undefined;
	#answered: { readonly fleet: DeclaredFleet; readonly askedAt: number } | undefined;

	constructor(options: RecentFleetOptions) {
		this.#options = options;
	}

	/** Reads the fleet as it is declared now. */
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
			// A failure is not an answer for the next call.
			if (this.#asked === asked) this.#asked = undefined;
			throw error;
		}
	}

	/** Returns the fleet from a read that began less than a second ago; starts one if there is none. */
	async recent(): Promise<DeclaredFleet> {
		const asked = this.#asked;
		return asked && this.#isRecent(asked) ? asked.fleet : this.read();
	}

	/** Returns the fleet as last read, if that read began within this time. If it is older than a second, a new read starts in parallel. */
	lastRead(withinMs: number): DeclaredFleet | undefined {
		const answered = this.#answered;
		if (!answered || this.#options.now() - answered.askedAt > withinMs) return undefined;
		// A caller that needs the list requests it, and gets the error.
		if (!this.#isRecent(answered)) this.recent().catch(() => undefined);
		return answered.fleet;
	}

	#isRecent({ askedAt }: { readonly askedAt: number }): boolean {
		return this.#options.now() - askedAt < recentForMs;
	}
}
