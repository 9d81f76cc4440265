// Formats messages about the addresses between agents: which come later, are missing, or are not needed.
import type { PlannedCluster, PlannedFleet } from "../planned-fleet.ts";
import { type Exposure, kindTexts } from "./exposure.ts";
import { peersService } from "./peers-service.ts";

/** Returns the messages for a plan that this command applies. */
export function exposureLines({ clusters, members, awaited }: PlannedFleet): readonly string[] {
	const late = clusters.flatMap(({ found: { context, id }, exposure }) =>
		exposure && awaited.has(id)
			? [
					`${context.name}: its address comes from service/${peersService}, a ${kindTexts[exposure.kind]}; it is waited for, and then put into the list of every member`,
				]
			: [],
	);
	const [alone, ...others] = members;
	const isAlone = alone && others.length === 0 && alone.address === undefined && awaited.size === 0;
	return isAlone ? [...late, `${alone.name}: it has no address, and as the only member needs none`] : late;
}

/** Returns the warnings for objects that another tool or the user applies. */
export function lateAddressWarnings(clusters: readonly PlannedCluster[], { awaited }: PlannedFleet): readonly string[] {
	const late = clusters.flatMap(({ found, exposure }) =>
		exposure && awaited.has(found.id) ? [found.context.name] : [],
	);
	const removed = clusters.flatMap(({ found, removed: objects }) => (objects.length > 0 ? [found.context.name] : []));
	return [
		...(late.length > 0
			? [
					`the address of ${late.join(", ")} is not known before service/${peersService} is there and has one, so the lists of members are without it: apply these objects, then write them anew with the same command`,
				]
			: []),
		...(removed.length > 0
			? [
					`service/${peersService} of ${removed.join(", ")} is not among the objects any more: delete it where nothing prunes`,
				]
			: []),
	];
}

/**
 * Returns a warning for each IP version of a Service that no source range is of. kube-proxy ignores the ranges of another version, and
 * without a range it lets all clients through. `ipFamilies`: undefined if they are not known yet.
 */
export function openVersionWarnings(
	name: string,
	{ kind, sources }: Exposure,
	ipFamilies: readonly string[] = [],
): readonly string[] {
	if (kind !== "loadbalancer" || sources.length === 0) return [];
	const examples: Readonly<Record<string, string>> = { IPv4: "203.0.113.0/24", IPv6: "2001:db8::/32" };
	return ipFamilies
		.filter((version) => !sources.some((source) => (source.includes(":") ? "IPv6" : "IPv4") === version))
		.map(
			(version) =>
				`${name}: service/${peersService} serves ${version}, to all clients: no source range is of ${version}. ` +
				`Name all ranges again, and one of ${version}, such as --expose-source=${name}=${examples[version]}`,
		);
}

export function memberWarnings(planned: PlannedFleet): readonly string[] {
	return [
		...missingAddressWarnings(planned),
		...planned.clusters.flatMap(({ found: { context, peers }, exposure }) =>
			exposure ? openVersionWarnings(context.name, exposure, peers?.ipFamilies) : [],
		),
	];
}

function missingAddressWarnings({ members, awaited }: PlannedFleet): readonly string[] {
	const silent = members.filter(({ id, address }) => address === undefined && !awaited.has(id)).map(({ name }) => name);
	if (silent.length === 0 || members.length === 1) return [];
	return [
		`without an address the agents of ${silent.join(", ")} are reached by no others: every run then needs a context of each of these members ` +
			"(--contexts). Give them one with --expose, or with --address MEMBER=HOST:PORT",
	];
}
