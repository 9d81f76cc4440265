// Remembers the optimistic (unwritten) holds that this agent was asked for. A Lease alone cannot show whether etcd was restored from a
// backup since the count.
//
// Guarantee: a hold that is found here and is unbroken was counted after this process asked for it. Every request that is sent at this
// instant goes over the API connection that was open before that count. So the API server has not been restarted since, and etcd was not
// restored: everything written between count and commit is still there to be noticed. asked-counts.ts limits the age of the count.
// Assumption: all API servers are restarted when etcd is restored, as Kubernetes demands.
import { randomUUID } from "node:crypto";
import type { AcquireOutcome, AcquireRequest, Acquisition, UnwrittenHold } from "../../disruption/budget/cluster.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";

export interface OptimisticHold {
	/** The hold as it was counted, with the fingerprint of its Lease. */
	readonly counted: UnwrittenHold;
	/** Uids of candidates that were counted as not healthy, and so cost nothing. */
	readonly unready: ReadonlySet<string>;
	readonly connection: number;
}

/**
 * The limit on holds and uids of unready candidates together, 100 bytes each. If the oldest hold was forgotten, its commit does not stand.
 */
const mostRemembered = 20_000;

export class OptimisticHolds {
	readonly #api: Pick<ClusterApi, "connection">;
	readonly #newId: () => string;
	/** By the id that their callers know, oldest first. */
	readonly #holds = new Map<string, OptimisticHold>();
	#size = 0;

	constructor({
		api,
		newId = randomUUID,
	}: {
		readonly api: Pick<ClusterApi, "connection">;
		readonly newId?: (() => string) | undefined;
	}) {
		this.#api = api;
		this.#newId = newId;
	}

	/** Acquires, here or at the agent that keeps the line, and remembers the hold if it was not written. */
	async acquire(
		request: AcquireRequest,
		acquire: (request: AcquireRequest) => Promise<AcquireOutcome>,
	): Promise<AcquireOutcome> {
		const connection = this.#api.connection();
		if (connection === undefined) return acquire({ ...request, mayBeUnwritten: false });
		const outcome = await acquire(request);
		const counted = outcome.kind === "acquired" ? outcome.acquisition.unwritten : undefined;
		if (outcome.kind !== "acquired" || !counted) return outcome;
		const unready = new Set<string>();
		for (const state of outcome.count.candidates)
			if (state.kind === "present" && !state.healthy) unready.add(state.pod.uid);
		// Each answer has its own id, because a duplicated request is counted twice, and its caller uses one of the counts.
		const id = this.#newId();
		this.#remember(id, { counted, unready, connection });
		return { ...outcome, acquisition: { ...outcome.acquisition, unwritten: { ...counted, lease: id } } };
	}

	/** Undefined if this process was not asked for the hold, or has forgotten it. */
	find({ unwritten }: Acquisition): OptimisticHold | undefined {
		return unwritten && this.#holds.get(unwritten.lease);
	}

	/** Whether nothing can have been lost since the count, for a write that is sent right now. */
	isUnbroken({ connection }: OptimisticHold): boolean {
		return this.#api.connection() === connection;
	}

	#remember(id: string, hold: OptimisticHold): void {
		this.#holds.set(id, hold);
		this.#size += sizeOf(hold);
		for (const [oldest, { unready }] of this.#holds) {
			if (this.#size <= mostRemembered) break;
			this.#holds.delete(oldest);
			this.#size -= sizeOf({ unready });
		}
	}
}

function sizeOf({ unready }: Pick<OptimisticHold, "unready">): number {
	return 1 + unready.size;
}
