// Records, for the judge, which budgets a count must know of.
//
// Promise under test: a count knows every budget that its agent's watch had shown when the Lease was acquired. This holds if the watch was
// alive and compared with a list at most 5 s before, by the agent's clock. Otherwise the count knows every budget that existed when the
// Lease was acquired. For repeated counts and unwritten holds, the moment is when the request reached the agent.
import type { Acquisition, Count, UnwrittenHold } from "../../disruption/budget/cluster.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { AgentProcess } from "./agent-process.ts";
import { nonceOf } from "./lease-text.ts";
import type { Config } from "./oracle-config.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

interface CountedUnder {
	readonly acquisition: Acquisition;
	readonly count: Count;
}

/** The fields that distinguish the counts that a commit can rest on. */
interface AskedAcquisition extends Pick<Acquisition, "leaseUid" | "nonce" | "countId"> {
	readonly unwritten?: Pick<UnwrittenHold, "lease"> | undefined;
}

/** Times are indices of configs. */
export class KnownBudgets {
	readonly #clusters: readonly SimulatedCluster[];
	readonly #configs: readonly Config[];
	/** By acquisition: what each agent of the cluster knew when the Lease was acquired. */
	readonly #acquired = new Map<string, ReadonlyMap<AgentProcess, number>>();
	readonly #counted = new WeakMap<Count, number>();
	/** By cluster and nonce: what was known to the latest count that its caller has received. */
	readonly #heard = new Map<string, number>();
	/** For counts under unwritten holds: when the hold was requested. */
	readonly #askedAt = new WeakMap<Count, number>();
	/** By cluster and nonce: the same times, for counts that their callers have received. */
	readonly #unwritten = new Map<string, number>();
	/** By count (askedKey): the agent that was asked for it. */
	readonly #asked = new Map<string, AgentProcess>();

	constructor(clusters: readonly SimulatedCluster[], configs: readonly Config[]) {
		this.#clusters = clusters;
		this.#configs = configs;
	}

	get now(): number {
		return this.#configs.length - 1;
	}

	/** Returns when an unwritten hold was requested. Undefined for a written hold. */
	unwrittenAt(clusterId: string, nonce: string): number | undefined {
		return this.#unwritten.get(keyOf(clusterId, nonce));
	}

	/** Returns the latest time up to which the agent knows every budget. */
	knownTo(agent: AgentProcess): number {
		const index = this.#clusters.findIndex(({ id }) => id === agent.local.id);
		return this.#configs.findLastIndex((config) => (config[index]?.revision ?? 0) < agent.budgetsUnseenFrom);
	}

	knownToAll({ agents }: SimulatedCluster): number {
		return Math.min(this.now, ...agents.filter(({ alive }) => alive).map((agent) => this.knownTo(agent)));
	}

	wrote({ id, agents }: SimulatedCluster, lease: LeaseObject): void {
		const key = keyOf(id, lease.uid, lease.spec.leaseTransitions, nonceOf(lease));
		if (this.#acquired.has(key)) return;
		this.#acquired.set(key, new Map(agents.map((agent) => [agent, this.knownTo(agent)])));
	}

	/**
	 * Called when an agent has counted. `asked` is the time up to which the agent knew every budget when it was asked. For an acquire,
	 * `askedAt` is the time when it was asked.
	 */
	counted(agent: AgentProcess, { acquisition, count }: CountedUnder, asked: number, askedAt?: number): void {
		const { leaseUid, leaseTransitions, nonce, unwritten } = acquisition;
		this.#asked.set(askedKey(acquisition), agent);
		if (unwritten && askedAt !== undefined && !this.#askedAt.has(count)) this.#askedAt.set(count, askedAt);
		const acquired = this.#acquired.get(keyOf(count.clusterId, leaseUid, leaseTransitions, nonce))?.get(agent) ?? 0;
		// If the call was forwarded, the agent that counted is recorded first.
		if (!this.#counted.has(count)) this.#counted.set(count, Math.max(asked, acquired));
	}

	/**
	 * Returns the agent that the caller asked for the count, but only once. A caller keeps to its agent until a call fails, so only the
	 * first commit must go there.
	 */
	takeAsked(acquisition: AskedAcquisition): AgentProcess | undefined {
		const key = askedKey(acquisition);
		const agent = this.#asked.get(key);
		this.#asked.delete(key);
		return agent;
	}

	/** Records that `read` is the caller's copy of a count: over the wire, it is decoded from the agent's bytes. */
	copied(said: Count, read: Count): void {
		const known = this.#counted.get(said);
		if (known !== undefined) this.#counted.set(read, known);
		const askedAt = this.#askedAt.get(said);
		if (askedAt !== undefined) this.#askedAt.set(read, askedAt);
	}

	/** Called when a caller has received this count. */
	heard({ acquisition, count }: CountedUnder): void {
		const known = this.#counted.get(count);
		const key = keyOf(count.clusterId, acquisition.nonce);
		if (known !== undefined) this.#heard.set(key, known);
		const askedAt = this.#askedAt.get(count);
		if (askedAt !== undefined) this.#unwritten.set(key, askedAt);
	}

	/**
	 * Returns the latest time up to which the round knew every budget of this cluster, by the counts of the acquisitions that it committed
	 * there. Undefined without such a count.
	 */
	ofRound(clusterId: string, committed: readonly { readonly cluster: string; readonly nonce: string }[]) {
		const own = committed.filter(({ cluster }) => cluster === clusterId);
		return own.reduce<number | undefined>((latest, { nonce }) => {
			const known = this.#heard.get(keyOf(clusterId, nonce));
			return latest === undefined || (known ?? 0) > latest ? known : latest;
		}, undefined);
	}
}

/** Identifies a count. A message has an empty string in place of an absent countId. */
function askedKey({ leaseUid, nonce, countId = "", unwritten }: AskedAcquisition): string {
	return keyOf(leaseUid, nonce, unwritten?.lease ?? countId);
}

function keyOf(...parts: readonly (string | number | undefined)[]): string {
	return JSON.stringify(parts);
}
