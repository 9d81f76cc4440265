// One agent of a simulated cluster, made of shipped parts: LocalCluster, the views, ReservationSweep, LeaseCleanup and, if it remembers
// members, Greetings. The scheduler decides when the views see events.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import { RecentFleet } from "../../agent/cluster-api/recent-fleet.ts";
import { withSharedReads } from "../../agent/cluster-api/shared-reads.ts";
import { idleMs, LeaseCleanup } from "../../agent/leases/lease-cleanup.ts";
import { relayLeaseChanges } from "../../agent/leases/relay-lease-changes.ts";
import { LocalCluster } from "../../agent/leases/local-cluster.ts";
import { ReservationSweep } from "../../agent/leases/reservation-sweep.ts";
import type { Greetings } from "../../agent/peers/greetings.ts";
import { budgetViewOf, leaseViewOf } from "../../agent/views/object-views.ts";
import { withWatchedLeases } from "../../agent/views/watched-leases.ts";
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	LeaseLostError,
} from "../../disruption/errors.ts";
import { reservationDeadlineMs } from "../../disruption/lease/reservation.ts";
import type { Greeting } from "../../proto/greet.ts";
import type { AgentProcessOptions } from "./agent-process-options.ts";
import { createScaleCalls } from "./scale-calls.ts";
import { withSeenVersions } from "./seen-api.ts";
import { type ApiCall, clusterApi } from "./simulated-api.ts";
import { simulatedMembership } from "./simulated-membership.ts";
import { WatchingProcess } from "./watching-process.ts";

const expectedErrors = [AgentUnavailableError, FleetsDifferError, GarbledLeaseError, LeaseLostError];
const overdueMs = reservationDeadlineMs + 1_000;

export class AgentProcess extends WatchingProcess {
	readonly local: LocalCluster;
	readonly #options: AgentProcessOptions<AgentProcess>;
	readonly #api: ClusterApi;
	readonly #sweep: ReservationSweep;
	readonly #cleanup: LeaseCleanup;
	readonly fleet: RecentFleet;
	/** Undefined if the agent does not remember members. */
	readonly greetings: Greetings | undefined;

	constructor(options: AgentProcessOptions<AgentProcess>) {
		super(options.name, options, (call) => options.carry(this, call));
		const { server, carry } = options;
		const { clock } = this;
		const cluster = server.clusterId;
		this.#options = options;
		const isRecent = (): boolean => this.hasCompared;
		const compared = {
			get isRecent() {
				return isRecent();
			},
			wanted: () => undefined,
		};
		const carrier = <T>(call: ApiCall<T>): Promise<T> => carry(this, call);
		const versions = this.versions;
		const asked = {
			...withSeenVersions(clusterApi(server, carrier), versions),
			...createScaleCalls({ server, carry: carrier, clock, versions }),
			connection: () => this.connections,
			...(this.streams && { listSelectedPods: this.streams.listSelectedPods }),
		};
		this.fleet = new RecentFleet({ getFleet: () => asked.getFleet(), now: () => clock.now() });
		const membership = {
			api: asked,
			leases: leaseViewOf(this.leases),
			clock,
			greet: (id: string, greeting: Greeting) => options.greet(this, id, greeting),
			report: (problem: unknown) => this.check(problem),
		};
		const known = options.knowsMembers ? simulatedMembership(membership) : undefined;
		this.greetings = known?.greetings;
		const { api: judged } = known ?? { api: asked };
		// A step stands for a turn of the event loop in production, so equal requests of one step share a read.
		this.#api = withWatchedLeases(withSharedReads(judged, queueMicrotask), leaseViewOf(this.leases));
		this.local = new LocalCluster({
			api: this.#api,
			...(known && { membership: known.known }),
			pods: this.pods,
			budgets: budgetViewOf(this.budgets, compared),
			workloads: this.workloads.view,
			leaseView: leaseViewOf(this.leases),
			clock,
			name: cluster,
			version: "0.0.0",
			leaseNamespace: "xpdb-system",
			ownPod: options.ownPod,
			lineHost: () => options.lineHost(this),
			budgetElsewhere: async (budget) => options.budgetElsewhere(budget),
			newId: () => this.newId(),
			report: (problem) => this.check(problem),
		});
		relayLeaseChanges(leaseViewOf(this.leases), this.local, (problem) => this.check(problem));
		this.#sweep = new ReservationSweep({
			cluster: this.local,
			pods: this.pods,
			leases: () => leaseViewOf(this.leases).leases(),
			clock,
			extraDelayMs: () => 0,
			report: (problem) => this.check(problem),
		});
		this.#cleanup = new LeaseCleanup({
			api: this.#api,
			leases: () => leaseViewOf(this.leases).leases(),
			budgets: budgetViewOf(this.budgets, compared),
			members: async () => options.members(this),
			clock,
			report: (problem) => this.check(problem),
		});
	}

	relist(): void {
		this.task("lists all pods", () => this.listPods());
	}

	sweep(): void {
		this.task("sweeps", () => this.#sweep.sweep());
	}

	/** Sweeps twice, more than 30 s apart, so that the second sweep acts on what the first one saw. */
	sweepOverdue(): void {
		this.sweep();
		this.clock.jump(overdueMs);
		this.signOfLife();
		this.sweep();
	}

	/** Cleans up twice, a minute of idle time apart, because only idle Leases are deleted. */
	cleanUp(): void {
		this.task("cleans up", async () => {
			await this.#cleanup.cleanUp();
			this.clock.jump(idleMs + 1);
			this.signOfLife();
			await this.#cleanup.cleanUp();
		});
	}

	greets(): void {
		this.task("greets", async () => this.greetings?.greetAll());
	}

	protected override check(error: unknown): void {
		if (!expectedErrors.some((kind) => error instanceof kind)) this.#options.onBug(error);
	}
}
