// The declared fleet as it was read lately, for calls that decide nothing.
//
// Guaranteed: an age is that of the question, taken before it was sent; an older answer that comes late replaces no newer
// one; what failed is no answer. Where reading takes long, a renewal does not wait for it: it only keeps what somebody has
// got already, who was a member then, and each one sees to it that the next is judged by a newer list.
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";

interface RecentFleetOptions {
	/** The fleet as it is declared now. */
	readonly getFleet: () => Promise<DeclaredFleet>;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
}

/** How old the list may be where nothing is taken or counted. */
const youngForMs = 1_000;

export class RecentFleet {
	readonly #options: RecentFleetOptions;
	#asked: { readonly fleet: Promise<DeclaredFleet>; readonly askedAt: number } | undefined;
	#answered: { readonly fleet: DeclaredFleet; readonly askedAt: number } | undefined;

	constructor(options: RecentFleetOptions) {
		this.#options = options;
	}

	/** As it is declared now. */
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
			// A failure is no answer for the next call.
			if (this.#asked === asked) this.#asked = undefined;
			throw error;
		}
	}

	/** As it was declared less than a second ago. */
	async young(): Promise<DeclaredFleet> {
		const asked = this.#asked;
		return asked && this.#isYoung(asked) ? asked.fleet : this.read();
	}

	/** As it was last read, if that began within this time; where it is not young, it is read anew beside it. */
	lately(withinMs: number): DeclaredFleet | undefined {
		const answered = this.#answered;
		if (!answered || this.#options.now() - answered.askedAt > withinMs) return undefined;
		// A caller who needs the list asks for it, and hears why it cannot be had.
		if (!this.#isYoung(answered)) this.young().catch(() => undefined);
		return answered.fleet;
	}

	#isYoung({ askedAt }: { readonly askedAt: number }): boolean {
		return this.#options.now() - askedAt < youngForMs;
	}
}
