// Deletes the Leases of budgets that no member of the fleet has any more, so that deleted namespaces and budgets leave nothing behind.
//
// Guarantee: a Lease is deleted only if it has no holder and no reservation, and only after every member has answered that it does not have
// the budget. The deletion names the uid and resourceVersion, so it never deletes a Lease that was written since. A round that comes too
// late finds a Lease with another uid, or none, and has lost its hold.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { type BudgetLease, parseLease } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { type ClusterApi, ConflictError } from "../cluster-api/cluster-api.ts";
import type { Clock } from "../process/clock.ts";
import type { BudgetView } from "../views/object-views.ts";

/** How long a Lease must be unchanged. If it has no holder then, no round still uses it, because an optimistic hold ends after 20 s. */
export const idleMs = 60_000;

interface LeaseCleanupOptions {
	readonly api: Pick<ClusterApi, "deleteLease">;
	readonly leases: () => Iterable<LeaseObject>;
	/** If the view has a budget, the members are not asked about it. */
	readonly budgets: Pick<BudgetView, "budgets">;
	/** Returns all members of the fleet, this cluster too. */
	readonly members: () => Promise<readonly Pick<AgentCluster, "listBudgets">[]>;
	readonly clock: Pick<Clock, "now">;
	readonly report: (problem: unknown) => void;
}

export class LeaseCleanup {
	readonly #options: LeaseCleanupOptions;
	/** By uid and resourceVersion: when this version of a Lease was first seen, or last checked. */
	readonly #idleSince = new Map<string, number>();

	constructor(options: LeaseCleanupOptions) {
		this.#options = options;
	}

	/** Makes one pass over all Leases, one after the other. A problem is reported, and does not stop the pass. */
	async cleanUp(): Promise<void> {
		const { leases, report } = this.#options;
		const seen = new Set<string>();
		for (const object of leases()) {
			const key = `${object.uid} ${object.resourceVersion}`;
			seen.add(key);
			try {
				if (this.#isDue(key, object)) await this.#deleteUnwanted(object);
			} catch (error) {
				report(error);
			}
		}
		for (const key of this.#idleSince.keys()) if (!seen.has(key)) this.#idleSince.delete(key);
	}

	#isDue(key: string, object: LeaseObject): boolean {
		const { clock, budgets } = this.#options;
		const since = this.#idleSince.get(key);
		if (since !== undefined && clock.now() - since < idleMs) return false;
		this.#idleSince.set(key, clock.now());
		if (since === undefined) return false;
		const lease = parseLease(object);
		return isEmpty(lease) && !has(budgets.budgets(lease.budget.namespace), lease.budget);
	}

	async #deleteUnwanted(object: LeaseObject): Promise<void> {
		const { api, members } = this.#options;
		const { budget } = parseLease(object);
		const lists = await Promise.all((await members()).map((member) => member.listBudgets([budget.namespace])));
		if (lists.some(({ budgets }) => has(budgets, budget))) return;
		try {
			await api.deleteLease(object);
		} catch (error) {
			// The Lease was written or deleted meanwhile: it is in use, or gone.
			if (!(error instanceof ConflictError)) throw error;
		}
	}
}

function isEmpty({ holder, state }: BudgetLease): boolean {
	return holder === "" && state.reservations.length === 0;
}

function has(budgets: Iterable<{ readonly name: BudgetName }>, { namespace, name }: BudgetName): boolean {
	for (const budget of budgets) if (budget.name.namespace === namespace && budget.name.name === name) return true;
	return false;
}
