// Connects the parts that remember the fleet's members, greet them, and refuse rounds while a known member is missing in the list.
import type { AgentCluster, HeardMember } from "../../proto/agent-cluster.ts";
import { greetAgent } from "../../proto/greet.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import { KnownMembers, withKnownMembers } from "../leases/known-members.ts";
import type { Clock } from "../process/clock.ts";
import type { PeriodicJob } from "../process/periodic-work.ts";
import type { Metrics } from "../process/metrics.ts";
import { type GreetingReceiver, Greetings } from "./greetings.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { PeerClients } from "./peer-clients.ts";

/** As long as for a forwarded call (peers.ts). */
const greetDeadlineMs = 4_000;

interface MembershipOptions {
	readonly api: ClusterApi;
	readonly leases: LeaseView;
	readonly clusterName: string;
	/** NAMESPACE/NAME. */
	readonly fleetConfigMap: string;
	/** Not shared: connections to clusters that are not greeted are closed. */
	readonly clients: PeerClients;
	readonly greeter: () => Pick<AgentCluster, "describe"> | undefined;
	readonly clock: Clock;
	readonly random: () => number;
	readonly metrics: Pick<Metrics, "greetings">;
	readonly report: (problem: unknown) => void;
}

export interface Membership {
	readonly known: KnownMembers;
	/** Its getFleet() rejects while a known member is missing in the list. */
	readonly api: ClusterApi;
	readonly receiver: GreetingReceiver;
	heard(): readonly HeardMember[];
	readonly greetingJob: PeriodicJob;
	close(): void;
}

export function createMembership(options: MembershipOptions): Membership {
	const { api, leases, clusterName, fleetConfigMap, clients, greeter, clock, random, metrics, report } = options;
	const known = new KnownMembers({ api, leases, clock, cluster: clusterName, fleetConfigMap });
	const local = { id: api.clusterId, name: clusterName };
	const greetings = new Greetings({
		local,
		known,
		greet: (to, greeting) => greetAgent(clients.get(to), { to, greeting, deadlineMs: greetDeadlineMs }),
		greeter,
		keep: (targets) => clients.keep(targets),
		clock,
		random,
		onGreeted: (outcome) => metrics.greetings.inc({ outcome }),
		report,
	});
	return {
		known,
		api: withKnownMembers(api, known),
		receiver: {
			...local,
			receive: (greeting) => greetings.receive(greeting),
		},
		heard: () => greetings.heard(),
		greetingJob: greetings.job,
		close: () => known.close(),
	};
}
