// Connects the shipped KnownMembers and Greetings of an agent as agent/peers/membership.ts does, but over the simulated network.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import { KnownMembers, withKnownMembers } from "../../agent/leases/known-members.ts";
import type { Clock } from "../../agent/process/clock.ts";
import { Greetings } from "../../agent/peers/greetings.ts";
import type { LeaseView } from "../../agent/views/object-views.ts";
import type { Greeting, GreetingReply } from "../../proto/greet.ts";

export interface SimulatedMembershipOptions {
	readonly api: ClusterApi;
	readonly leases: LeaseView;
	readonly clock: Clock;
	readonly greet: (id: string, greeting: Greeting) => Promise<GreetingReply>;
	readonly report: (problem: unknown) => void;
}

export interface SimulatedMembership {
	readonly known: KnownMembers;
	/** getFleet() of this API refuses a fleet in which a known member is neither listed nor forgotten. */
	readonly api: ClusterApi;
	readonly greetings: Greetings;
}

export function simulatedMembership(options: SimulatedMembershipOptions): SimulatedMembership {
	const { api, leases, clock, greet, report } = options;
	const { clusterId } = api;
	const known = new KnownMembers({ api, leases, clock, cluster: clusterId, fleetConfigMap: "xpdb-system/xpdb-fleet" });
	const greetings = new Greetings({
		local: { id: clusterId, name: clusterId },
		known,
		greet: ({ id }, greeting) => greet(id, greeting),
		keep: () => undefined,
		clock,
		// Not used, because the schedule sends the greetings.
		random: () => 0,
		onGreeted: () => undefined,
		report,
	});
	return { known, api: withKnownMembers(api, known), greetings };
}
