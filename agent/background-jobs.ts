// Starts the agent's periodic jobs, except those that read certificates and guard the heap, which start earlier (agent.ts).
import type { ClusterApi } from "./cluster-api/cluster-api.ts";
import type { BudgetHistories } from "./leases/budget-histories.ts";
import { LeaseCleanup } from "./leases/lease-cleanup.ts";
import type { LocalCluster } from "./leases/local-cluster.ts";
import { ReservationSweep } from "./leases/reservation-sweep.ts";
import type { Membership } from "./peers/membership.ts";
import type { Peers } from "./peers/peers.ts";
import type { Clock } from "./process/clock.ts";
import type { PeriodicWork } from "./process/periodic-work.ts";
import { startUpGarbage } from "./process/start-up-garbage.ts";
import type { Views } from "./views/views.ts";

interface BackgroundJobsOptions {
	readonly periodic: PeriodicWork;
	readonly local: LocalCluster;
	readonly api: ClusterApi;
	readonly membership: Membership;
	readonly peers: Peers;
	readonly views: Views;
	readonly histories: BudgetHistories;
	readonly clock: Clock;
	/** Whether another agent of this cluster sweeps first and does the cleanup. */
	readonly isFollower: () => boolean;
	readonly report: (problem: unknown) => void;
}

/** The sweep's own deadlines are 5 to 30 s, so a second more or less does not matter. */
const sweepEveryMs = 1_000;
/** How much later the followers sweep, in case the first agent did not. */
const followerDelayMs = 5_000;

export function startBackgroundJobs(options: BackgroundJobsOptions): void {
	const { periodic, local, api, membership, peers, views, histories, clock, isFollower, report } = options;
	const leases = () => views.leases.leases();
	const sweep = new ReservationSweep({
		cluster: local,
		pods: views.pods,
		leases,
		clock,
		extraDelayMs: () => (isFollower() ? followerDelayMs : 0),
		report,
	});
	const cleanup = new LeaseCleanup({
		api,
		leases,
		budgets: views.budgets,
		members: async () => {
			const { members } = await api.getFleet();
			return Promise.all(members.map(async ({ id }) => (id === local.id ? local : peers.member(id))));
		},
		clock,
		report,
	});
	const pauseMs = () => sweepEveryMs;
	// Before the first lists are done, a missing object proves nothing.
	periodic.begin({ pauseMs, pass: async () => (views.synced ? sweep.sweep() : undefined) });
	periodic.begin({ pauseMs, pass: async () => (views.synced && !isFollower() ? cleanup.cleanUp() : undefined) });
	periodic.begin(histories.job);
	periodic.begin(startUpGarbage(() => views.synced));
	periodic.begin(membership.greetingJob);
}
