// Makes the document of `kubectl xpdb fleet` for -o json and -o yaml, as in plugin/output/schemas/fleet-v1.json.
import type { CertificateMark } from "../../proto/agent-cluster.ts";
import type { FleetMembers, MemberRow } from "./fleet-members.ts";

export function fleetDocument({ rows, differences, problems, warnings }: FleetMembers): object {
	return { members: rows.map(memberOf), differences, problems, warnings };
}

function memberOf(row: MemberRow): object {
	const { name, id, state, context, address, version, features, heardAgoMs, certificates, listedBy, forgottenBy } = row;
	return {
		name,
		id,
		state,
		context: context === "" ? null : context,
		address: address ?? null,
		gitVersion: version ?? null,
		features,
		heardSecondsAgo: Object.fromEntries(
			Object.entries(heardAgoMs).map(([by, agoMs]) => [by, agoMs === undefined ? null : Math.round(agoMs / 1_000)]),
		),
		certificate: certificates ? markOf(certificates.certificate) : null,
		authorities: certificates ? certificates.authorities.map(markOf) : [],
		listedBy,
		forgottenBy,
	};
}

function markOf({ sha256, expiresAtSeconds }: CertificateMark): object {
	return { sha256, expiresAt: new Date(expiresAtSeconds * 1_000).toISOString() };
}
