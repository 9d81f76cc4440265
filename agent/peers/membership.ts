// What an agent does about its fleet's members, put together: who is known, who is greeted, and whose rounds are refused.
import type { HeardMember } from "../../proto/agent-cluster.ts";
import { greetAgent } from "../../proto/greet.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import { KnownMembers, withKnownMembers } from "../leases/known-members.ts";
import type { Clock } from "../process/clock.ts";
import type { Metrics } from "../process/metrics.ts";
import { type GreetingReceiver, Greetings } from "./greetings.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { PeerClients } from "./peer-clients.ts";

/** As a peer that is passed a call: whoever does not answer by then is greeted again later. */
const greetDeadlineMs = 4_000;

interface MembershipOptions {
	readonly api: ClusterApi;
	readonly leases: LeaseView;
	readonly clusterName: string;
	/** NAMESPACE/NAME. */
	readonly fleetConfigMap: string;
	/** Its own: connections to whoever is known. */
	readonly clients: PeerClients;
	readonly clock: Clock;
	readonly random: () => number;
	readonly metrics: Pick<Metrics, "greetings">;
	readonly report: (problem: unknown) => void;
}

export interface Membership {
	readonly known: KnownMembers;
	/** Every fleet that it gives is one without a known member missing. */
	readonly api: ClusterApi;
	readonly receiver: GreetingReceiver;
	/** The other clusters of which this agent has heard. */
	heard(): readonly HeardMember[];
	/** Begins to greet. */
	start(): void;
	close(): void;
}

export function createMembership(options: MembershipOptions): Membership {
	const { api, leases, clusterName, fleetConfigMap, clients, clock, random, metrics, report } = options;
	const known = new KnownMembers({ api, leases, clock, cluster: clusterName, fleetConfigMap });
	const local = { id: api.clusterId, name: clusterName };
	const greetings = new Greetings({
		local,
		known,
		greet: (to, greeting) => greetAgent(clients.get(to), { to, greeting, deadlineMs: greetDeadlineMs }),
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
		start: () => greetings.start(),
		close() {
			greetings.close();
			known.close();
		},
	};
}
