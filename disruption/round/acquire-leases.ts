// Acquires the Leases of a round: all at once, or one after the other in line.
import type { RoundBudget } from "../budget/budget.ts";
import type { AcquireOutcome, AcquireRequest, Cluster } from "../budget/cluster.ts";
import { AgentUnavailableError } from "../errors.ts";
import { leaseName } from "../lease/lease.ts";
import type { RoundLeases, Slot } from "./round-leases.ts";
import type { RoundObserver, RoundRuntime } from "./round-runtime.ts";
import type { RoundCandidate } from "../budget/verdict.ts";

export interface RoundRequest {
	/** All members of the fleet, never fewer. */
	readonly clusters: readonly Cluster[];
	/** All budgets that cover the candidates. */
	readonly budgets: readonly RoundBudget[];
	readonly holder: string;
	readonly candidates: readonly RoundCandidate[];
	readonly signal: AbortSignal;
	/**
	 * Other runs want these Leases too, as the last round found. The round then waits in line immediately, and takes no Lease before its turn.
	 */
	readonly contended?: boolean;
	readonly observer?: Partial<RoundObserver>;
}

/**
 * Tries to acquire all Leases at once, without waiting. If another run holds one of them or waits for it, releases all, and waits in line
 * for each in the one order of all runs. A `contended` request waits in line from the start.
 */
export async function acquireAll(
	request: RoundRequest,
	runtime: RoundRuntime,
	held: RoundLeases,
	lost: AbortSignal,
): Promise<void> {
	const slots = slotsInOrder(request);
	if (!request.contended && (await acquireAtOnce(slots, request, runtime, held))) return;
	await held.releaseAll();
	const signal = AbortSignal.any([request.signal, lost]);
	for (const slot of slots) await acquireSlot(slot, request, runtime, held, true, signal);
}

/** Returns whether all Leases were acquired. */
async function acquireAtOnce(
	slots: readonly Slot[],
	request: RoundRequest,
	runtime: RoundRuntime,
	held: RoundLeases,
): Promise<boolean> {
	const attempts = await Promise.allSettled(
		slots.map(async (slot) => acquireSlot(slot, request, runtime, held, false, request.signal)),
	);
	const failed = attempts.find((attempt) => attempt.status === "rejected");
	if (failed) throw failed.reason;
	return held.size === slots.length;
}

async function acquireSlot(
	slot: Slot,
	request: RoundRequest,
	runtime: RoundRuntime,
	held: RoundLeases,
	wait: boolean,
	signal: AbortSignal,
): Promise<void> {
	const { cluster, budget } = slot;
	const acquire: AcquireRequest = {
		budget: budget.name,
		selector: budget.selector,
		holder: request.holder,
		nonce: runtime.newId(),
		candidates: request.candidates.filter(({ clusterId }) => clusterId === cluster.id).map(({ pod }) => pod),
		// Other runs wait in this line, and must see who holds the Lease.
		mayBeUnwritten: !wait,
	};
	const askedAt = runtime.now();
	const outcome: AcquireOutcome = await cluster.acquire(acquire, {
		wait,
		signal,
		onQueued: (place) => request.observer?.queued?.({ ...place, cluster: cluster.name, budget: budget.name }),
	});
	if (outcome.kind === "acquired") {
		held.add({ ...slot, ...outcome, request: acquire, askedAt });
	} else if (wait) {
		throw new AgentUnavailableError(
			`cannot wait for budget ${budget.name.namespace}/${budget.name.name}: the agent of cluster ${cluster.name} ended the wait without granting the lease`,
			cluster.name,
		);
	}
}

/** Sorts by cluster id, then by Lease name. All runs wait in this one order, so that they cannot block each other forever. */
function slotsInOrder({ clusters, budgets }: RoundRequest): readonly Slot[] {
	const slots = clusters.flatMap((cluster) =>
		budgets.map((budget) => ({ cluster, budget, key: `${cluster.id} ${leaseName(budget.name)}` })),
	);
	return slots.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
