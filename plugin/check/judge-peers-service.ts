// Judges the Service through which agents of other members connect: whether it has an address, and whether the fleet lists that address.
import { isIP } from "node:net";
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { OfferedAddress } from "../install/expose/offered-addresses.ts";
import { peersService } from "../install/expose/peers-service.ts";
import type { FoundPeers } from "../install/expose/read-peers.ts";
import { isSameAddress } from "../install/expose/same-address.ts";
import { type ClusterCheck, type FoundProblem, ofReading, type Reading } from "./check-report.ts";

/** `listed` is this member's entry in a list that was read. Undefined if no list has one. */
export function judgePeersService(
	peers: Reading<FoundPeers | undefined>,
	listed: FleetMember | undefined,
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
): ClusterCheck {
	return ofReading(peers, (found) => {
		if (!found) return { text: "none", findings: [] };
		const { offered } = found;
		if (offered.kind === "none") {
			const message = `service/${peersService} cannot be reached from outside: ${offered.why}`;
			const fix = suggest.kubectl(["describe", "service", peersService, "-n", suggest.agentNamespace], name);
			return { text: "no", findings: [{ reason: "ServiceWithoutAddress", message, fix }] };
		}
		const problem = listed && problemOf(listed, offered.addresses);
		if (problem === undefined) return { text: "yes", findings: [] };
		const [{ address }] = offered.addresses;
		const fix = suggest.xpdbInAll(["install", `--address=${listed?.name}=${address}`]);
		const finding: FoundProblem = { reason: "AddressDiffers", message: problem, fix };
		return { text: "differs", findings: [finding] };
	});
}

function problemOf({ name, address }: FleetMember, offered: readonly OfferedAddress[]): string | undefined {
	const has = `service/${peersService} is reached at ${offered[0]?.address}`;
	if (address === undefined) return `${has}, and the fleet lists no address for ${name}`;
	const all = offered.map((each) => each.address);
	// A host name may lead to the Service, which cannot be checked from here.
	const isComparable = isIP(hostOf(address)) !== 0 && all.every((each) => isIP(hostOf(each)) !== 0);
	if (all.some((each) => isSameAddress(each, address)) || !isComparable) return undefined;
	return `${has}, and the fleet lists ${address} for ${name}, which it has not (any more)`;
}

function hostOf(address: string): string {
	return address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1");
}
