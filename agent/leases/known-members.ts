// Remembers every cluster that this one ever listed as a member, or that ever greeted it. A member leaves only if it is listed as
// forgotten, never by being left out.
//
// Guarantee: before a count, a budget list or a description depends on a list of members, every id of that list is in Lease
// `xpdb-known-members`. After that, the list is read once more and has not changed. A version of the ConfigMap that this process has not
// obeyed yet is compared with a read of the Lease that began after the ConfigMap was read. So everything that any agent of this cluster
// obeyed before is known here. An id from a greeting to another agent of this cluster is known here as soon as the watch shows it. A watch
// counts as alive for 5 s after its last sign of life. While it is dead, the Lease is read for each answer. While an id is neither a member
// nor forgotten, `getFleet` rejects with its name. Ids never leave while an agent runs. If the Lease is deleted, or etcd is restored from a
// backup, they stay in memory, and the agent writes them again the next time that it reads the Lease.
//
// Not guaranteed: that a list is complete if it was too short from the first day, in a cluster that none of the missing members can reach.
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
	/** The cluster's name, for messages. */
	readonly cluster: string;
	/** NAMESPACE/NAME of the ConfigMap that declares the fleet. */
	readonly fleetConfigMap: string;
}

/** `missing` is the number of known members that are neither listed nor forgotten. */
export interface MemberCensus {
	readonly listed: number;
	readonly forgotten: number;
	readonly missing: number;
}

/** A fleet as it was read, and the known members that are missing in it. */
interface JudgedFleet {
	readonly fleet: DeclaredFleet;
	readonly missing: readonly KnownMember[];
}

/** When a list changes, the agents of a cluster write this Lease at the same moment. Each conflict means that another agent wrote. */
const maxConflicts = 20;

export class KnownMembers {
	readonly #options: KnownMembersOptions;
	readonly #known = new Map<string, KnownMember>();
	readonly #stopListening: () => void;
	/** The error if the Lease could not be read the last time. */
	#garbled: GarbledLeaseError | undefined;
	/** The version and content of the list that was last obeyed. */
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

	/** Every known id, forgotten ones too. */
	get known(): readonly KnownMember[] {
		return [...this.#known.values()];
	}

	/** For the list that was last obeyed. Undefined if none was. */
	get census(): MemberCensus | undefined {
		const fleet = this.#latestFleet;
		if (!fleet) return undefined;
		return { listed: fleet.members.length, forgotten: fleet.forgotten.length, missing: this.#missing(fleet).length };
	}

	/** Returns the declared fleet. Rejects with FleetsDifferError while a known member is neither listed nor forgotten. */
	async getFleet(): Promise<DeclaredFleet> {
		const { fleet, missing } = await this.judge();
		const [first] = missing;
		if (first) throw this.#refusal(first);
		return fleet;
	}

	/** Returns the declared fleet, and the known members that it neither lists nor forgets. */
	async judge(): Promise<JudgedFleet> {
		const { api, leases, cluster } = this.#options;
		let fleet = await api.getFleet();
		for (let edits = 0; edits < maxConflicts; edits += 1) {
			const what = contentOf(fleet);
			const isObeyed = fleet.version !== undefined && what === this.#obeyed;
			const isShown = leases.live && leases.find(knownMembersLease) !== undefined;
			if (!isObeyed || !isShown) await this.#keepOnce(fleet, what);
			if (this.#garbled) throw this.#garbled;
			// If the list was edited meanwhile, another agent may have read the Lease before this process wrote it, and missed what was written.
			const latest = isObeyed ? fleet : await api.getFleet();
			if (isObeyed || contentOf(latest) === what) {
				this.#obeyed = what;
				this.#latestFleet = fleet;
				return { fleet, missing: this.#missing(fleet) };
			}
			fleet = latest;
		}
		throw new AgentUnavailableError(
			`cannot obey the fleet of cluster "${cluster}": it was edited ${maxConflicts} times meanwhile`,
			cluster,
		);
	}

	/**
	 * Rejects as getFleet() does, for a step that follows one of this agent's answers. Requests nothing if this process has read the fleet, no
	 * known member is missing in it, and the Lease could be read.
	 */
	async assertStill(): Promise<void> {
		const fleet = this.#latestFleet;
		// If this process has not read the fleet yet, another agent of this cluster gave that answer.
		if (fleet && !this.#garbled && this.#missing(fleet).length === 0) return;
		await this.getFleet();
	}

	/** Adds members that sent a greeting. Rejects if the Lease cannot be read or written. */
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
			`cannot judge budgets in cluster "${cluster}": member "${name}" (id ${id}, known since ${day}) is missing in ` +
				`ConfigMap ${fleetConfigMap}. If it still belongs to the fleet, list it under members in every cluster. ` +
				`If it is gone for good, add "- id: ${id}" under forgotten in every cluster`,
		);
	}

	/** Concurrent callers with the same list share one call of #keep(). */
	async #keepOnce(fleet: DeclaredFleet, what: string): Promise<void> {
		// A read that started for another list may be too old for this one.
		if (fleet.version !== undefined && this.#keeping?.what === what) return this.#keeping.done;
		const keeping = { what, done: this.#keep(fleet.members.map(listed), true) };
		this.#keeping = keeping;
		try {
			await keeping.done;
		} finally {
			if (this.#keeping === keeping) this.#keeping = undefined;
		}
	}

	/** Reads the Lease and writes what is missing in it. With `isList`, the names and addresses of `members` replace those in the Lease. */
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
			`cannot write Lease "${knownMembersLease}" in cluster "${cluster}": others wrote it ${maxConflicts} times meanwhile`,
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

	/** Takes in what the watch shows now. */
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
			`cannot keep more than ${maxKnownMembers} members in Lease "${knownMembersLease}" of cluster "${cluster}"`,
			cluster,
		);
	}
}

const newLease = {
	name: knownMembersLease,
	// All Leases of agents have this label: the watch selects by it, and the policy lets no other account write them. It is empty because this
	// Lease belongs to no budget.
	labels: { [namespaceLabel]: "" },
	spec: {},
} as const;

/**
 * Returns the same API with `known.getFleet()`, so that every answer that depends on the fleet is refused while a known member is missing.
 */
export function withKnownMembers(api: ClusterApi, known: Pick<KnownMembers, "getFleet">): ClusterApi {
	return { ...api, getFleet: () => known.getFleet() };
}

function listed({ id, name, address }: FleetMember): Omit<KnownMember, "since"> {
	return { id, name, ...(address !== undefined && { address }) };
}

function contentOf({ version, members }: DeclaredFleet): string {
	return JSON.stringify([version, ...members.map(listed)]);
}
