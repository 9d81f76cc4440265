// Decides who is in the fleet after an installation: the members that the clusters already declare, and those that join. Pure.
//
// Guarantee: no installation removes a member from a fleet. No list changes while another member would keep the old one, because differing
// lists stop every eviction in the fleet.
import { InvalidFleetError, readDeclaredFleet } from "../../disruption/budget/declared-fleet.ts";
import type { DeclaredFleet, FleetMember, ForgottenMember } from "../../disruption/budget/fleet.ts";
import { quote } from "../../disruption/quote.ts";
import { refuseSameCluster } from "../kubernetes/same-cluster.ts";
import { UsageError } from "../terminal/errors.ts";

export interface MemberCandidate {
	/** The context's name. */
	readonly name: string;
	readonly id: string;
	/** The fleet in its ConfigMap; undefined if it has none. */
	readonly fleet: DeclaredFleet | undefined;
	/** The address that its Service gives; undefined: keep the listed address. */
	readonly address?: PlannedAddress;
}

export type PlannedAddress =
	| { readonly kind: "known"; readonly address: string }
	/** The Service has no address yet. The address is listed once it is known. */
	| { readonly kind: "awaited" }
	| { readonly kind: "none" };

export interface PlannedMembers {
	readonly members: readonly FleetMember[];
	readonly forgotten: readonly ForgottenMember[];
	/** The ids of clusters that no cluster has listed so far. */
	readonly joining: ReadonlySet<string>;
	/** The ids of members whose Services have no address yet. Their addresses are listed once they are known. */
	readonly awaited: ReadonlySet<string>;
}

/** `addresses`: HOST:PORT by the name of a member or context; "" removes the address. Throws UsageError. */
export function planMembers(
	candidates: readonly MemberCandidate[],
	addresses: ReadonlyMap<string, string>,
): PlannedMembers {
	refuseSameCluster(candidates.map(({ name, id }) => [name, id]));
	const contextOf = new Map(candidates.map((candidate) => [candidate.id, candidate]));
	const listed = new Map<string, FleetMember>();
	for (const { fleet } of candidates) {
		for (const member of fleet?.members ?? []) if (!listed.has(member.id)) listed.set(member.id, member);
	}
	const joining = new Set(candidates.map(({ id }) => id).filter((id) => !listed.has(id)));
	const forgotten = new Map<string, ForgottenMember>();
	for (const { name, fleet } of candidates) {
		for (const member of fleet?.forgotten ?? []) {
			// Naming the context of a forgotten cluster lists it again.
			if (contextOf.has(member.id)) continue;
			if (listed.has(member.id)) throw halfForgotten(member, name);
			forgotten.set(member.id, member);
		}
	}
	const unlisted = candidates.filter(({ id }) => joining.has(id)).map(({ id, name }) => ({ id, name }));
	const members = withAddresses([...listed.values(), ...unlisted], contextOf, addresses);
	const awaited = new Set(
		members.flatMap(({ id, name }) => {
			const candidate = contextOf.get(id);
			const isGiven = [name, candidate?.name ?? name].some((each) => addresses.has(each));
			return candidate?.address?.kind === "awaited" && !isGiven ? [id] : [];
		}),
	);
	const planned = { members, forgotten: [...forgotten.values()], joining, awaited };
	refuseInvalid(planned);
	refuseMissing(planned, candidates);
	return planned;
}

function halfForgotten({ id, name = id }: ForgottenMember, context: string): UsageError {
	return new UsageError(
		`${context} has forgotten ${quote(name)}, which another cluster lists as a member: nothing was touched`,
		`Name its context too, to list it again in all of them, or forget it in all others`,
	);
}

function withAddresses(
	members: readonly FleetMember[],
	contextOf: ReadonlyMap<string, MemberCandidate>,
	addresses: ReadonlyMap<string, string>,
): readonly FleetMember[] {
	const unused = new Set(addresses.keys());
	const found = members.map((member): FleetMember => {
		const names = [member.name, contextOf.get(member.id)?.name ?? member.name];
		const [name] = names.filter((each) => addresses.has(each));
		if (name !== undefined) unused.delete(name);
		const found = contextOf.get(member.id)?.address;
		// An address that the user gave takes precedence over a Service's.
		if (name === undefined && !found) return member;
		const { address: _, ...rest } = member;
		const address = name === undefined ? (found?.kind === "known" ? found.address : "") : (addresses.get(name) ?? "");
		return address === "" ? rest : { ...rest, address };
	});
	const [unknown] = unused;
	if (unknown !== undefined) {
		throw new UsageError(
			`--address names ${quote(unknown)}, which is not a member of the fleet; its members are ${members.map(({ name }) => name).join(", ")}`,
		);
	}
	return found;
}

/** Refuses a list that agents would refuse, because they would then refuse every eviction. */
export function refuseInvalid({ members, forgotten }: Pick<PlannedMembers, "members" | "forgotten">): void {
	try {
		readDeclaredFleet({ members, forgotten, namespaces: undefined, leaseNamespace: undefined });
	} catch (error) {
		if (!(error instanceof InvalidFleetError)) throw error;
		throw new UsageError(`the fleet would be one that agents refuse: ${error.message}`);
	}
}

function refuseMissing(planned: PlannedMembers, candidates: readonly MemberCandidate[]): void {
	const ids = new Set(candidates.map(({ id }) => id));
	const absent = planned.members.filter(({ id }) => !ids.has(id)).map(({ name }) => name);
	const changed = candidates
		.filter(({ fleet }) => planned.awaited.size > 0 || !isDeclaredBy(planned, fleet))
		.map(({ name }) => name);
	if (absent.length === 0 || changed.length === 0) return;
	throw new UsageError(
		`the list of members changes in ${changed.join(", ")}, and ${absent.join(", ")} would keep the old one: ` +
			"while they differ nothing is evicted in the whole fleet, so nothing was touched",
		"Name the contexts of all members with --contexts",
	);
}

export function isDeclaredBy(
	{ members, forgotten }: Pick<PlannedMembers, "members" | "forgotten">,
	fleet: DeclaredFleet | undefined,
): boolean {
	const text = (entries: readonly (FleetMember | ForgottenMember)[]): string =>
		JSON.stringify(
			entries
				.map((entry) => JSON.stringify([entry.id, entry.name ?? "", "address" in entry ? entry.address : ""]))
				.toSorted(),
		);
	return fleet !== undefined && text(members) === text(fleet.members) && text(forgotten) === text(fleet.forgotten);
}
