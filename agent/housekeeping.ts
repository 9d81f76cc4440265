// Background work besides the calls: the watch on Leases wakes the line, abandoned reservations and holds of dead holders are ended, and
// Leases without a budget are deleted.
import { GarbledLeaseError } from "../disruption/errors.ts";
import { parseLease } from "../disruption/lease/lease.ts";
import type { ClusterApi } from "./cluster-api/cluster-api.ts";
import { LeaseCleanup } from "./leases/lease-cleanup.ts";
import { tellOfLeases } from "./leases/lease-sightings.ts";
import type { LocalCluster } from "./leases/local-cluster.ts";
import { ReservationSweep } from "./leases/reservation-sweep.ts";
import type { Peers } from "./peers/peers.ts";
import type { Clock } from "./process/clock.ts";
import type { Views } from "./views/views.ts";

interface HousekeepingOptions {
	readonly local: LocalCluster;
	readonly api: ClusterApi;
	readonly peers: Peers;
	readonly views: Views;
	readonly clock: Clock;
	/** True if another agent of this cluster sweeps first, and is the one that deletes. */
	readonly isSecond: () => boolean;
	readonly report: (problem: unknown) => void;
}

/** Deadlines of reservations are 5 to 30 s, so a second more or less does not matter. */
const sweepEveryMs = 1_000;
/** The other agents step in if the first one has not done it by then. */
const secondDelayMs = 5_000;

/** Returns a function that stops it. */
export function keepHouse(options: HousekeepingOptions): () => void {
	const { local, views, clock, isSecond, report } = options;
	const stopListening = tellOfLeases(views.leases, local, report);
	const sweep = new ReservationSweep({
		cluster: local,
		pods: views.pods,
		leases: () => views.leases.leases(),
		clock,
		extraDelayMs: () => (isSecond() ? secondDelayMs : 0),
		report,
	});
	const cleanup = createLeaseCleanup(options);
	// Each at its own pace: a member that does not answer the cleanup must not hold up the sweep.
	const endings = [
		// Before the first lists there is no evidence.
		repeat(options, async () => views.synced && (await sweep.sweep())),
		repeat(options, async () => views.synced && !isSecond() && (await cleanup.cleanUp())),
	];
	return () => {
		for (const end of endings) end();
		stopListening();
	};
}

function repeat({ clock, report }: HousekeepingOptions, work: () => Promise<unknown>): () => void {
	let cancelTimer = (): void => undefined;
	let ended = false;
	const next = (): void => {
		if (!ended) cancelTimer = clock.after(sweepEveryMs, () => void run());
	};
	const run = async (): Promise<void> => {
		await work().catch(report);
		next();
	};
	next();
	return () => {
		ended = true;
		cancelTimer();
	};
}

function createLeaseCleanup({ local, api, peers, views, clock, report }: HousekeepingOptions): LeaseCleanup {
	return new LeaseCleanup({
		api,
		leases: () => views.leases.leases(),
		budgets: views.budgets,
		members: async () => {
			const { members } = await api.getFleet();
			return Promise.all(members.map(async ({ id }) => (id === local.id ? local : peers.member(id))));
		},
		clock,
		report,
	});
}

/** How many reservations the watch has shown. Leases that cannot be read have none that can be used. */
export function countReservations(views: Views): number {
	let count = 0;
	for (const object of views.leases.leases()) {
		try {
			count += parseLease(object).state.reservations.length;
		} catch (error) {
			if (!(error instanceof GarbledLeaseError)) throw error;
		}
	}
	return count;
}
