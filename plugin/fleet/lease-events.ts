// What becomes of the Leases that a run takes, as events. It stands between the rounds and a member of the fleet, so that
// whoever asks that member for a Lease tells of it, and changes no answer.
import { formatBudgetName } from "../../disruption/budget.ts";
import type { Acquisition } from "../../disruption/cluster.ts";
import { LeaseLostError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { forwardingCluster } from "../../proto/forwarding-cluster.ts";
import type { EventSink } from "../events/events.ts";

export interface LeaseEventsDependencies {
	readonly emit: EventSink;
	/** Monotonic milliseconds. */
	readonly now: () => number;
}

/** The same member; of a Lease that could not be given back nothing more is told, it ends by itself. */
export function withLeaseEvents(member: AgentCluster, { emit, now }: LeaseEventsDependencies): AgentCluster {
	/** By nonce. */
	const heldSince = new Map<string, number>();

	/** How long it was held, once. */
	function end({ budget, nonce }: Acquisition, tell: (lease: EndedLease) => void): void {
		const since = heldSince.get(nonce);
		if (!heldSince.delete(nonce) || since === undefined) return;
		tell({ budget: formatBudgetName(budget), cluster: member.name, heldMs: now() - since });
	}

	function released(acquisition: Acquisition): void {
		end(acquisition, (lease) => emit({ type: "lease.released", ...lease }));
	}

	function lost(acquisition: Acquisition, message: string): void {
		end(acquisition, (lease) => emit({ type: "lease.lost", ...lease, message }));
	}

	async function unlessLost<Answer>(acquisition: Acquisition, asked: Promise<Answer>): Promise<Answer> {
		try {
			return await asked;
		} catch (error) {
			if (error instanceof LeaseLostError) lost(acquisition, error.message);
			throw error;
		}
	}

	return forwardingCluster(member, {
		async acquire(request, options) {
			const askedAt = now();
			const outcome = await member.acquire(request, options);
			if (outcome.kind === "acquired") {
				const { budget, holder } = request;
				const { acquisition, leaseDurationMs } = outcome;
				heldSince.set(acquisition.nonce, now());
				emit({
					type: "lease.acquired",
					budget: formatBudgetName(budget),
					cluster: member.name,
					holder,
					ttlSeconds: leaseDurationMs / 1_000,
					waitedMs: now() - askedAt,
				});
			}
			return outcome;
		},
		count: (acquisition, request) => unlessLost(acquisition, member.count(acquisition, request)),
		renew: (acquisition) => unlessLost(acquisition, member.renew(acquisition)),
		async commit(acquisition, grants) {
			const outcome = await unlessLost(acquisition, member.commit(acquisition, grants));
			if (outcome.kind === "stood") released(acquisition);
			else if (outcome.kind === "lost") lost(acquisition, outcome.reason);
			return outcome;
		},
		async release(acquisition) {
			try {
				await member.release(acquisition);
				released(acquisition);
			} finally {
				heldSince.delete(acquisition.nonce);
			}
		},
	});
}

interface EndedLease {
	readonly budget: string;
	readonly cluster: string;
	readonly heldMs: number;
}
