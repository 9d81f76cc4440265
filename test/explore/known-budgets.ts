// Which budgets a count has to know of: for the judge.
//
// Promise under test: a count knows every budget that its agent's watch had shown when the Lease was got, where that watch
// was alive and its last comparison with a list had begun at most 5 s before on the agent's clock; else every budget that
// was there then. Counts that are asked for again: when the question came to the agent.
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

/** What tells the counts from each other that a commit can rest on. */
interface AskedAcquisition extends Pick<Acquisition, "leaseUid" | "nonce" | "countId"> {
	readonly unwritten?: Pick<UnwrittenHold, "lease"> | undefined;
}

/** Times are indices of configs. */
export class KnownBudgets {
	readonly #clusters: readonly SimulatedCluster[];
	readonly #configs: readonly Config[];
	/** By acquisition: what each agent of the cluster knew when it was got. */
	readonly #acquired = new Map<string, ReadonlyMap<AgentProcess, number>>();
	readonly #counted = new WeakMap<Count, number>();
	/** By cluster and nonce: of the latest count that its caller has heard. */
	readonly #heard = new Map<string, number>();
	/** Of counts under a hold that was not written: when they were asked for. */
	readonly #askedAt = new WeakMap<Count, number>();
	/** By cluster and nonce: of those that their callers have heard. */
	readonly #unwritten = new Map<string, number>();
	/** The agent that was asked for a count. */
	readonly #asked = new Map<string, AgentProcess>();

	constructor(clusters: readonly SimulatedCluster[], configs: readonly Config[]) {
		this.#clusters = clusters;
		this.#configs = configs;
	}

	get now(): number {
		return this.#configs.length - 1;
	}

	/** When the hold that was not written was asked for; undefined for one that was. */
	unwrittenAt(clusterId: string, nonce: string): number | undefined {
		return this.#unwritten.get(keyOf(clusterId, nonce));
	}

	/** The agent knows of every budget that there was at this time. */
	knownTo(agent: AgentProcess): number {
		const index = this.#clusters.findIndex(({ id }) => id === agent.local.id);
		return this.#configs.findLastIndex((config) => (config[index]?.revision ?? 0) < agent.budgetsUnseenFrom);
	}

	/** Every agent of the cluster that is alive knows of every budget that there was at this time. */
	knownToAll({ agents }: SimulatedCluster): number {
		return Math.min(this.now, ...agents.filter(({ alive }) => alive).map((agent) => this.knownTo(agent)));
	}

	/** A Lease was written. */
	wrote({ id, agents }: SimulatedCluster, lease: LeaseObject): void {
		const key = keyOf(id, lease.uid, lease.spec.leaseTransitions, nonceOf(lease));
		if (this.#acquired.has(key)) return;
		this.#acquired.set(key, new Map(agents.map((agent) => [agent, this.knownTo(agent)])));
	}

	/** An agent has counted; `asked`: what it knew when it was asked. */
	counted(agent: AgentProcess, { acquisition, count }: CountedUnder, asked: number, askedAt?: number): void {
		const { leaseUid, leaseTransitions, nonce, unwritten } = acquisition;
		this.#asked.set(askedKey(acquisition), agent);
		if (unwritten && askedAt !== undefined && !this.#askedAt.has(count)) this.#askedAt.set(count, askedAt);
		const acquired = this.#acquired.get(keyOf(count.clusterId, leaseUid, leaseTransitions, nonce))?.get(agent) ?? 0;
		// Where the call was passed on, the agent that counted comes first.
		if (!this.#counted.has(count)) this.#counted.set(count, Math.max(asked, acquired));
	}

	/** Callers keep to the agent that they have asked until a call fails: told for the first commit that rests on a count. */
	takeAsked(acquisition: AskedAcquisition): AgentProcess | undefined {
		const key = askedKey(acquisition);
		const agent = this.#asked.get(key);
		this.#asked.delete(key);
		return agent;
	}

	/** Over the wire a caller has a count of its own: what the agent said, read from bytes. */
	copied(said: Count, read: Count): void {
		const known = this.#counted.get(said);
		if (known !== undefined) this.#counted.set(read, known);
		const askedAt = this.#askedAt.get(said);
		if (askedAt !== undefined) this.#askedAt.set(read, askedAt);
	}

	/** A caller has got this count. */
	heard({ acquisition, count }: CountedUnder): void {
		const known = this.#counted.get(count);
		const key = keyOf(count.clusterId, acquisition.nonce);
		if (known !== undefined) this.#heard.set(key, known);
		const askedAt = this.#askedAt.get(count);
		if (askedAt !== undefined) this.#unwritten.set(key, askedAt);
	}

	/** What the round knew of this cluster, by the acquisitions that it has committed; undefined where it has none there. */
	ofRound(clusterId: string, committed: readonly { readonly cluster: string; readonly nonce: string }[]) {
		const own = committed.filter(({ cluster }) => cluster === clusterId);
		return own.reduce<number | undefined>((latest, { nonce }) => {
			const known = this.#heard.get(keyOf(clusterId, nonce));
			return latest === undefined || (known ?? 0) > latest ? known : latest;
		}, undefined);
	}
}

/** In a message no id is an empty one. */
function askedKey({ leaseUid, nonce, countId = "", unwritten }: AskedAcquisition): string {
	return keyOf(leaseUid, nonce, unwritten?.lease ?? countId);
}

function keyOf(...parts: readonly (string | number | undefined)[]): string {
	return JSON.stringify(parts);
}
