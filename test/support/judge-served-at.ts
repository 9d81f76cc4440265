// Returns the findings of `check` about a peers Service that is reachable at these addresses.
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import type { FoundProblem } from "../../plugin/check/check-report.ts";
import { judgePeersService } from "../../plugin/check/judge-peers-service.ts";
import type { Offered } from "../../plugin/install/expose/offered-addresses.ts";
import { newContext } from "./build-context.ts";

export function judgeServedAt(addresses: readonly string[], listed: FleetMember | undefined): readonly FoundProblem[] {
	const [first, ...others] = addresses.map((address) => ({ address, of: "the load balancer" }));
	const offered: Offered = first
		? { kind: "some", addresses: [first, ...others] }
		: { kind: "none", why: "its load balancer has no address yet" };
	const exposure = { kind: "loadbalancer", annotations: {}, sources: [] } as const;
	return judgePeersService({ kind: "read", value: { exposure, offered } }, listed, newContext("eu")).findings;
}
