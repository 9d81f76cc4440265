// Keeps rows of budgets up to date, for `kubectl xpdb budgets -w` and for the screen of a run. The numbers are computed as for the table
// (budget-table.ts), from what each member's agents report. They are unknown if one member's state is unknown.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Count } from "../../disruption/budget/cluster.ts";
import { isDomainError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import { type BudgetRow, type CountOfMember, countable, listedRow } from "./budget-table.ts";
import type { Fleet } from "./fleet.ts";
import { type HealthyHistories, historyOfAll } from "./healthy-history.ts";
import { type MemberState, type WatchClock, WatchedMember } from "./watched-member.ts";

export interface RowChanges {
	readonly changed: readonly BudgetRow[];
	readonly gone: readonly BudgetName[];
	/** All members, sorted by name. */
	readonly members: readonly MemberState[];
}

interface BudgetWatchOptions {
	readonly fleet: Pick<Fleet, "members" | "reconnect">;
	/** Empty: all namespaces. */
	readonly namespaces: readonly string[];
	/** Rows are left out if it returns false. Default: all rows. */
	readonly wants?: (name: BudgetName) => boolean;
	readonly clock: WatchClock;
	readonly signal: AbortSignal;
	/** Called first with all known rows, then with the changed ones, at most four times a second. */
	readonly onChanges: (changes: RowChanges) => void;
	/** Called after new samples, at most four times a second. A budget has a history only if every member keeps one. */
	readonly onHistories?: (histories: HealthyHistories) => void;
}

const flushMs = 250;
/** How often the watch looks for stale reports, outdated counts and new members. */
const tickMs = 1_000;
/** A member without the budget still counts the budget's pods, but its watch does not report them, so it is polled. */
const lookEveryMs = 2_000;
const reconnectEveryMs = 5_000;

export async function watchBudgets(options: BudgetWatchOptions): Promise<void> {
	const shown = new Map<string, { readonly name: BudgetName; readonly text: string }>();
	while (!options.signal.aborted) await new Session(options, shown).run();
}

/** One watch, for as long as the fleet keeps the same members. */
class Session {
	readonly #options: BudgetWatchOptions;
	readonly #members: readonly WatchedMember[];
	readonly #shown: Map<string, { readonly name: BudgetName; readonly text: string }>;
	/** The counts of members that do not have the budget, by member and budget. */
	readonly #looks = new Map<string, Look>();
	readonly #end = new AbortController();
	#dirty: Set<string> | "all" = "all";
	#hasBegun = false;
	#isFlushing = false;
	#hasNewHistories = false;
	#membersText = "";
	#reconnectedAt = Number.NEGATIVE_INFINITY;

	constructor(options: BudgetWatchOptions, shown: Map<string, { readonly name: BudgetName; readonly text: string }>) {
		this.#options = options;
		this.#shown = shown;
		const { fleet, namespaces, clock } = options;
		const onHistories = (): void => {
			this.#hasNewHistories = true;
			this.#changed([]);
		};
		const shared = { namespaces, clock, onChange: (keys?: readonly string[]) => this.#changed(keys), onHistories };
		this.#members = fleet.members
			.toSorted((a, b) => (a.name < b.name ? -1 : 1))
			.map((member) => new WatchedMember({ member, ...shared }));
	}

	async run(): Promise<void> {
		const signal = AbortSignal.any([this.#options.signal, this.#end.signal]);
		const { clock } = this.#options;
		const failed = (error: unknown): never => {
			this.#end.abort();
			throw error;
		};
		const watching = this.#members.map((member) => member.run(signal).catch(failed));
		const ticking = async (): Promise<void> => {
			while (!signal.aborted) {
				await clock.pause(tickMs, signal).catch(() => undefined);
				for (const member of this.#members) member.tick();
				if (this.#looks.size > 0) this.#changed([...this.#looks.values()].map(({ key }) => key));
				await this.#followFleet();
			}
		};
		await Promise.all([...watching, ticking().catch(failed)]);
	}

	#changed(keys?: readonly string[]): void {
		if (keys === undefined) this.#dirty = "all";
		else if (this.#dirty !== "all") for (const key of keys) this.#dirty.add(key);
		if (this.#isFlushing) return;
		this.#isFlushing = true;
		void this.#flushSoon();
	}

	async #flushSoon(): Promise<void> {
		const { clock, signal } = this.#options;
		// The first rows come without a delay, because a user waits for them.
		if (this.#hasBegun) await clock.pause(flushMs, signal).catch(() => undefined);
		else await Promise.resolve();
		this.#isFlushing = false;
		if (signal.aborted || this.#end.signal.aborted) return;
		this.#flush();
		this.#flushHistories();
	}

	#flushHistories(): void {
		const { onHistories } = this.#options;
		if (!onHistories || !this.#hasBegun || !this.#hasNewHistories) return;
		this.#hasNewHistories = false;
		onHistories({ get: (key) => historyOfAll(this.#members.map((member) => member.history(key))) });
	}

	#flush(): void {
		if (!this.#hasBegun && !this.#members.every(({ hasAnswered }) => hasAnswered)) return;
		const names = this.#names(this.#dirty);
		const keys =
			this.#dirty === "all" ? [...new Set([...names.keys(), ...this.#shown.keys()])].toSorted() : this.#dirty;
		this.#dirty = new Set();
		const changed: BudgetRow[] = [];
		const gone: BudgetName[] = [];
		for (const key of keys) {
			const name = names.get(key);
			const before = this.#shown.get(key);
			if (!name) {
				if (before) gone.push(before.name);
				this.#shown.delete(key);
				continue;
			}
			const row = this.#row(key, name);
			if (!row) continue;
			const text = JSON.stringify({ ...row, perCluster: [...row.perCluster] });
			if (text === before?.text) continue;
			this.#shown.set(key, { name, text });
			changed.push(row);
		}
		const members = this.#members.map(({ state }) => state);
		const membersText = JSON.stringify(members);
		if (this.#hasBegun && changed.length === 0 && gone.length === 0 && membersText === this.#membersText) return;
		this.#hasBegun = true;
		this.#membersText = membersText;
		this.#options.onChanges({ changed, gone, members });
	}

	/** Returns the budgets that at least one member has, by key. Looks up only the requested keys, because there can be thousands. */
	#names(keys: ReadonlySet<string> | "all"): ReadonlyMap<string, BudgetName> {
		const { wants = () => true } = this.#options;
		const found = this.#members.flatMap((member) => (keys === "all" ? member.names() : member.namesOf(keys)));
		return new Map(found.filter(wants).map((name) => [formatBudgetName(name), name]));
	}

	/** Returns the budget's row. Undefined until every member has a count, or a reason why there is none. */
	#row(key: string, name: BudgetName): BudgetRow | undefined {
		const lists = this.#members.map((member) => {
			const budget = member.budget(key);
			return { clusterName: member.name, budgets: budget ? [budget] : [] };
		});
		const found = countable(name, lists);
		if (found.kind === "row") return found.row;
		const counts: CountOfMember[] = [];
		for (const member of this.#members) {
			const told = member.count(key);
			if (told) this.#looks.delete(`${member.id} ${key}`);
			const count = told ?? this.#look(member, key, found.budget);
			if (count) counts.push({ cluster: member.name, count });
		}
		if (counts.length < this.#members.length) return undefined;
		const ids = this.#members.map(({ id }) => id);
		return listedRow(found.budget, ids, lists, counts);
	}

	/** Returns the count of a member that does not have the budget. Undefined while its first answer is outstanding. */
	#look(
		{ member }: WatchedMember,
		key: string,
		{ name, selector }: { readonly name: BudgetName; readonly selector: Parameters<typeof member.look>[0]["selector"] },
	): Count | Error | undefined {
		const { clock } = this.#options;
		const at = `${member.id} ${key}`;
		const known = this.#looks.get(at);
		// At most one request at a time, so that requests to a slow agent do not pile up.
		if (known && (known.isUnderWay || clock.now() - known.askedAt < lookEveryMs)) return known.answer;
		this.#looks.set(at, { key, askedAt: clock.now(), answer: known?.answer, isUnderWay: true });
		const told = (answer: Count | Error): void => {
			this.#looks.set(at, { key, askedAt: clock.now(), answer, isUnderWay: false });
			this.#changed([key]);
		};
		member.look({ budget: name, selector, candidates: [], thisBudgetAlone: true }).then(told, (error: unknown) => {
			told(error instanceof Error ? error : new Error(String(error)));
		});
		return known?.answer;
	}

	/** Asks for the fleet's members if a member counts for a different fleet. Ends this session if they have changed. */
	async #followFleet(): Promise<void> {
		const { fleet, clock } = this.#options;
		const hash = fleetHash(this.#members.map(({ id }) => id));
		const isAnother = this.#members.some((member) => {
			const [name] = member.names();
			const count = name && member.count(formatBudgetName(name));
			return count !== undefined && !(count instanceof Error) && count.fleetHash !== hash;
		});
		if (!isAnother || clock.now() - this.#reconnectedAt < reconnectEveryMs) return;
		this.#reconnectedAt = clock.now();
		try {
			await fleet.reconnect();
		} catch (error) {
			// The rows already say that members declare different fleets or do not answer.
			if (isDomainError(error) || error instanceof FleetUncoveredError) return;
			throw error;
		}
		if (fleetHash(fleet.members.map(({ id }) => id)) !== hash) this.#end.abort();
	}
}

interface Look {
	readonly key: string;
	readonly askedAt: number;
	readonly answer: Count | Error | undefined;
	readonly isUnderWay: boolean;
}
