// Which clusters this one ever took for members, and what follows: a member goes by being forgotten by name, never by
// being left out.
//
// Guarantee: every id of a list is in Lease `xpdb-known-members` before a count, a budget list or a description rests on
// that list, and the list still stands when it is. A version of the ConfigMap that this process has not obeyed yet is
// compared with a read of the Lease made after it; so whatever any agent of this cluster obeyed before is known here. An id that came by a greeting is known here as soon as the
// watch shows it, within the 5 s of a watch that is alive; where it is not, the Lease is read for each answer. While an
// id is neither member nor forgotten, `getFleet` rejects with its name. Ids never leave: not when the Lease is deleted
// (it is written again from what this process knows), and not when etcd comes back from a backup.
//
// Not guaranteed: a list that is too short from the first day on, in a cluster that none of the missing can reach.
import { AgentUnavailableError, FleetsDifferError, GarbledLeaseError } from "../../disruption/errors.ts";
import type { DeclaredFleet, FleetMember } from "../../disruption/budget/fleet.ts";
import { namespaceLabel } from "../../disruption/lease/lease.ts";
import { type ClusterApi, ConflictError } from "../cluster-api/cluster-api.ts";
import {
	type KnownMember,
	knownMembersAnnotation,
	knownMembersLease,
	knownMembersText,
	maxKnownMembers,
	parseKnownMembers,
} from "../cluster-api/known-members-lease.ts";
import type { Clock } from "../process/clock.ts";
import type { LeaseView } from "../views/object-views.ts";

interface KnownMembersOptions {
	readonly api: Pick<ClusterApi, "getFleet" | "getLease" | "createLease" | "updateLease">;
	readonly leases: Pick<LeaseView, "find" | "live" | "onChange">;
	readonly clock: Pick<Clock, "wallSeconds">;
	/** For people. */
	readonly cluster: string;
	/** NAMESPACE/NAME of the ConfigMap that declares the fleet. */
	readonly fleetConfigMap: string;
}

/** How many clusters the list has, how many it forgets, and how many are known that it has not. */
export interface MemberCensus {
	readonly listed: number;
	readonly forgotten: number;
	readonly missing: number;
}

/** A fleet that was read, and whom this cluster knows beside it. */
interface JudgedFleet {
	readonly fleet: DeclaredFleet;
	readonly missing: readonly KnownMember[];
}

/** Agents of one cluster write it at the same moment when a list changes; each lost race means that another one wrote. */
const maxConflicts = 20;

export class KnownMembers {
	readonly #options: KnownMembersOptions;
	readonly #known = new Map<string, KnownMember>();
	readonly #stopListening: () => void;
	/** Why the Lease, as it was last seen, cannot be read. */
	#garbled: GarbledLeaseError | undefined;
	/** The list that was last obeyed, by version and content. */
	#obeyed = "";
	#keeping: { readonly what: string; readonly done: Promise<void> } | undefined;
	#latestFleet: DeclaredFleet | undefined;

	constructor(options: KnownMembersOptions) {
		this.#options = options;
		this.#stopListening = options.leases.onChange((name) => {
			if (name === knownMembersLease) this.#look();
		});
		this.#look();
	}

	/** Every known id, also those that are forgotten. */
	get known(): readonly KnownMember[] {
		return [...this.#known.values()];
	}

	/** Of the list that was last read; undefined before. */
	get census(): MemberCensus | undefined {
		const fleet = this.#latestFleet;
		if (!fleet) return undefined;
		return { listed: fleet.members.length, forgotten: fleet.forgotten.length, missing: this.#missing(fleet).length };
	}

	/** The declared fleet; rejects with FleetsDifferError while a known member is neither listed nor forgotten. */
	async getFleet(): Promise<DeclaredFleet> {
		const { fleet, missing } = await this.judge();
		const [first] = missing;
		if (first) throw this.#refusal(first);
		return fleet;
	}

	/** The declared fleet, and who is known and neither listed nor forgotten there. */
	async judge(): Promise<JudgedFleet> {
		const { api, leases, cluster } = this.#options;
		let fleet = await api.getFleet();
		for (let edits = 0; edits < maxConflicts; edits += 1) {
			const what = contentOf(fleet);
			const isObeyed = fleet.version !== undefined && what === this.#obeyed;
			const isShown = leases.live && leases.find(knownMembersLease) !== undefined;
			if (!isObeyed || !isShown) await this.#keepOnce(fleet, what);
			if (this.#garbled) throw this.#garbled;
			// Where it was edited meanwhile, another agent may have looked for what we wrote only now, and not found it.
			const latest = isObeyed ? fleet : await api.getFleet();
			if (isObeyed || contentOf(latest) === what) {
				this.#obeyed = what;
				this.#latestFleet = fleet;
				return { fleet, missing: this.#missing(fleet) };
			}
			fleet = latest;
		}
		throw new AgentUnavailableError(
			`Cannot obey the fleet of cluster "${cluster}": it was edited ${maxConflicts} times meanwhile`,
			cluster,
		);
	}

	/** For a step that follows an answer of ours: nothing is asked unless somebody became known meanwhile. */
	async assertStill(): Promise<void> {
		const fleet = this.#latestFleet;
		// Another agent of this cluster gave that answer.
		if (fleet && !this.#garbled && this.#missing(fleet).length === 0) return;
		await this.getFleet();
	}

	/** Adds who greeted; rejects where the Lease cannot be written. */
	async learn(members: readonly Omit<KnownMember, "since">[]): Promise<void> {
		if (members.every(({ id }) => this.#known.has(id)) && !this.#garbled) return;
		await this.#keep(members, false);
	}

	close(): void {
		this.#stopListening();
	}

	#missing({ members, forgotten }: DeclaredFleet): readonly KnownMember[] {
		const resolved = new Set([...members, ...forgotten].map(({ id }) => id));
		return this.known.filter(({ id }) => !resolved.has(id)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
	}

	#refusal({ id, name, since }: KnownMember): FleetsDifferError {
		const { cluster, fleetConfigMap } = this.#options;
		const day = new Date(since * 1000).toISOString().slice(0, 10);
		return new FleetsDifferError(
			`Cannot judge budgets in cluster "${cluster}": it knows "${name}" (id ${id}) as a member since ${day}, but ` +
				`ConfigMap ${fleetConfigMap} neither lists nor forgets it. List it again under members in every cluster, or, ` +
				`where it is gone for good, forget it in every cluster: add "- id: ${id}" under forgotten`,
		);
	}

	/** Counts that come together wait for one read. */
	async #keepOnce(fleet: DeclaredFleet, what: string): Promise<void> {
		// A read under way may be older than another list.
		if (fleet.version !== undefined && this.#keeping?.what === what) return this.#keeping.done;
		const keeping = { what, done: this.#keep(fleet.members.map(listed), true) };
		this.#keeping = keeping;
		try {
			await keeping.done;
		} finally {
			if (this.#keeping === keeping) this.#keeping = undefined;
		}
	}

	/** Reads the Lease and writes what is not in it. `isList`: names and addresses are those of the list from now on. */
	async #keep(members: readonly Omit<KnownMember, "since">[], isList: boolean): Promise<void> {
		const { api, cluster, clock } = this.#options;
		for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
			const object = await api.getLease(knownMembersLease);
			const found = object ? this.#read(object) : [];
			const next = new Map([...this.#known, ...found.map((member) => [member.id, member] as const)]);
			for (const member of members) {
				const before = next.get(member.id);
				if (!before || isList) next.set(member.id, { ...member, since: before?.since ?? clock.wallSeconds() });
			}
			if (next.size > maxKnownMembers) throw this.#tooMany();
			const text = knownMembersText(next.values());
			try {
				if (!object) await api.createLease({ ...newLease, annotations: { [knownMembersAnnotation]: text } });
				else if (knownMembersText(found) !== text) {
					const annotations = { ...object.annotations, [knownMembersAnnotation]: text };
					await api.updateLease({ ...object, annotations, labels: { ...object.labels, ...newLease.labels } });
				}
			} catch (error) {
				if (error instanceof ConflictError) continue;
				throw error;
			}
			for (const [id, member] of next) this.#known.set(id, member);
			this.#garbled = undefined;
			return;
		}
		throw new AgentUnavailableError(
			`Cannot write Lease "${knownMembersLease}" in cluster "${cluster}": others wrote it ${maxConflicts} times meanwhile`,
			cluster,
		);
	}

	#read(object: Parameters<typeof parseKnownMembers>[0]): readonly KnownMember[] {
		try {
			return parseKnownMembers(object, this.#options.cluster);
		} catch (error) {
			if (error instanceof GarbledLeaseError) this.#garbled = error;
			throw error;
		}
	}

	/** What the watch shows now. */
	#look(): void {
		const object = this.#options.leases.find(knownMembersLease);
		if (!object) return;
		try {
			for (const member of this.#read(object)) this.#known.set(member.id, member);
			this.#garbled = undefined;
		} catch (error) {
			if (!(error instanceof GarbledLeaseError)) throw error;
		}
	}

	#tooMany(): AgentUnavailableError {
		const { cluster } = this.#options;
		return new AgentUnavailableError(
			`Cannot keep more than ${maxKnownMembers} members in Lease "${knownMembersLease}" of cluster "${cluster}"`,
			cluster,
		);
	}
}

const newLease = {
	name: knownMembersLease,
	// Our Leases have this label, by which they are watched and nobody else may write them; it belongs to no budget.
	labels: { [namespaceLabel]: "" },
	spec: {},
} as const;

/** Every answer that rests on the fleet is judged with the same read of it. */
export function withKnownMembers(api: ClusterApi, known: Pick<KnownMembers, "getFleet">): ClusterApi {
	return { ...api, getFleet: () => known.getFleet() };
}

function listed({ id, name, address }: FleetMember): Omit<KnownMember, "since"> {
	return { id, name, ...(address !== undefined && { address }) };
}

/** What a list says, in which version. */
function contentOf({ version, members }: DeclaredFleet): string {
	return JSON.stringify([version, ...members.map(listed)]);
}
