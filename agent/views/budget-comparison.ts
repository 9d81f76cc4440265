// Whether the watch on budgets still tells of all of them: it is compared with consistent lists, every now and then while
// anybody asks. A watch can be alive by its pings and silent all the same (an API server whose watch cache is stuck), and a
// budget that it does not show is one under which nobody counts.
//
// Guarantee: where the last comparison that held began at B, the watch has shown every budget that stood at B, unless it has
// shown since that it is gone. Assumption: a list without resourceVersion is as new as its request.
import type { MemberBudget } from "../../disruption/cluster.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { ListedBudgets } from "../cluster-api/budget-calls.ts";
import type { Clock } from "../process/clock.ts";

/** What the watch has shown, as object-views.ts keeps it. */
interface WatchedBudgets {
	readonly keyOf: (budget: MemberBudget) => string;
	readonly live: boolean;
	/** How far it has come. */
	readonly resourceVersion: string;
	get(key: string): MemberBudget | undefined;
	values(): Iterable<MemberBudget>;
	onChange(listener: (budget: MemberBudget) => void): () => void;
	/** True once it is so; false where it is not within half a second, or where the watch is not alive. */
	becomes(isSo: () => boolean): Promise<boolean>;
}

interface BudgetComparisonOptions {
	readonly store: WatchedBudgets;
	readonly list: () => Promise<ListedBudgets>;
	readonly clock: Pick<Clock, "now" | "after">;
	/** The watch shows other budgets than a list does, and does not come to show these: it is to be opened anew. */
	readonly onDifferent: (names: readonly string[]) => void;
	/** The list could not be had. */
	readonly report: (problem: unknown) => void;
}

/** A budget holds from five seconds after it was made, at the latest. */
export const comparedWithinMs = 5_000;
/** Of the 5 s, 3 are left for a list that is slow. At 1 KB of metadata each, 1,000 budgets are half a megabyte a second. */
const everyMs = 2_000;
/** A drain asks more often than that while it goes on; an agent that nobody asks lists nothing. */
const idleAfterMs = 30_000;

export class BudgetComparison {
	readonly #options: BudgetComparisonOptions;
	#heldAt = Number.NEGATIVE_INFINITY;
	#wantedAt = Number.NEGATIVE_INFINITY;
	#running = false;
	#closed = false;
	#cancelPause = (): void => undefined;

	constructor(options: BudgetComparisonOptions) {
		this.#options = options;
	}

	/** The last comparison that held began in the last 5 s. Judged when asked: a process that slept has not compared. */
	get isRecent(): boolean {
		return this.#options.clock.now() - this.#heldAt <= comparedWithinMs;
	}

	/** Somebody asks, and will probably ask again soon. */
	wanted(): void {
		this.#wantedAt = this.#options.clock.now();
		if (this.#running || this.#closed) return;
		this.#running = true;
		void this.#keepComparing();
	}

	/** One comparison. */
	async compare(): Promise<void> {
		const { store, list, clock, onDifferent } = this.#options;
		const beganAt = clock.now();
		const shownAt = new Map<string, string>();
		const stopListening = store.onChange((budget) => void shownAt.set(store.keyOf(budget), store.resourceVersion));
		try {
			const listed = await list();
			const different = (): readonly string[] => differences(store, listed, shownAt);
			// A watch may be a moment behind a list, and ahead of it.
			if (await store.becomes(() => different().length === 0)) this.#heldAt = Math.max(this.#heldAt, beganAt);
			else if (store.live) onDifferent(different());
		} finally {
			stopListening();
		}
	}

	close(): void {
		this.#closed = true;
		this.#cancelPause();
	}

	async #keepComparing(): Promise<void> {
		const { clock, report } = this.#options;
		while (!this.#closed && clock.now() - this.#wantedAt < idleAfterMs) {
			const dueAt = clock.now() + everyMs;
			await this.compare().catch(report);
			await this.#pause(dueAt - clock.now());
		}
		this.#running = false;
	}

	async #pause(ms: number): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = this.#options.clock.after(Math.max(ms, 0), resolve);
		this.#cancelPause = () => {
			cancel();
			resolve();
		};
		await promise;
	}
}

/** Names in one of the two only; `shownAt` has what the watch told since before the list, and at which version. */
function differences(
	store: WatchedBudgets,
	{ versions, resourceVersion }: ListedBudgets,
	shownAt: ReadonlyMap<string, string>,
): readonly string[] {
	const different: string[] = [];
	for (const [key, version] of versions) {
		// Shown at that version or later, and not there any more: it went after the list.
		const isShown = compareResourceVersions(shownAt.get(key) ?? "", version) >= 0;
		if (store.get(key) === undefined && !isShown) different.push(key);
	}
	for (const budget of store.values()) {
		const key = store.keyOf(budget);
		const isNewer = compareResourceVersions(shownAt.get(key) ?? "", resourceVersion) > 0;
		if (!versions.has(key) && !isNewer) different.push(key);
	}
	return different;
}
