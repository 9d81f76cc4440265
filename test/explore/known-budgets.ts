// The budgets that a count has to know of, for the judge.
//
// Promise under test: a count knows every budget that its agent's watch had shown when the Lease was acquired. This holds if the watch
// was alive, and its last comparison with a list had begun at most 5 s before on the agent's clock. Otherwise the count knows every
// budget that existed when the Lease was acquired. For counts that are asked for again, the moment is when the question came to the
// agent.
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
	/** For counts under a hold that was not written: when the hold was asked for. */
	readonly #askedAt = new WeakMap<Count, number>();
	/** By cluster and nonce: the same times, for counts that their callers have received. */
	readonly #unwritten = new Map<string, number>();
	/** By acquisition: the agent that was asked for a count. */
	readonly #asked = new Map<string, AgentProcess>();

	constructor(clusters: readonly SimulatedCluster[], configs: readonly Config[]) {
		this.#clusters = clusters;
		this.#configs = configs;
	}

	get now(): number {
		return this.#configs.length - 1;
	}

	/** When a hold that was not written was asked for. Undefined for a written hold. */
	unwrittenAt(clusterId: string, nonce: string): number | undefined {
		return this.#unwritten.get(keyOf(clusterId, nonce));
	}

	/** The latest time of which the agent knows every budget. */
	knownTo(agent: AgentProcess): number {
		const index = this.#clusters.findIndex(({ id }) => id === agent.local.id);
		return this.#configs.findLastIndex((config) => (config[index]?.revision ?? 0) < agent.budgetsUnseenFrom);
	}

	/** The latest time of which every living agent of the cluster knows every budget. */
	knownToAll({ agents }: SimulatedCluster): number {
		return Math.min(this.now, ...agents.filter(({ alive }) => alive).map((agent) => this.knownTo(agent)));
	}

	/** A Lease was written. */
	wrote({ id, agents }: SimulatedCluster, lease: LeaseObject): void {
		const key = keyOf(id, lease.uid, lease.spec.leaseTransitions, nonceOf(lease));
		if (this.#acquired.has(key)) return;
		this.#acquired.set(key, new Map(agents.map((agent) => [agent, this.knownTo(agent)])));
	}

	/** An agent has counted. `asked` is what it knew when it was asked. */
	counted(agent: AgentProcess, { acquisition, count }: CountedUnder, asked: number, askedAt?: number): void {
		const { leaseUid, leaseTransitions, nonce, unwritten } = acquisition;
		this.#asked.set(askedKey(acquisition), agent);
		if (unwritten && askedAt !== undefined && !this.#askedAt.has(count)) this.#askedAt.set(count, askedAt);
		const acquired = this.#acquired.get(keyOf(count.clusterId, leaseUid, leaseTransitions, nonce))?.get(agent) ?? 0;
		// If the call was forwarded, the agent that counted is recorded first.
		if (!this.#counted.has(count)) this.#counted.set(count, Math.max(asked, acquired));
	}

	/**
	 * The agent that the caller asked for the count, once: a caller keeps to its agent until a call fails. So only the first commit is
	 * sent there.
	 */
	takeAsked(acquisition: AskedAcquisition): AgentProcess | undefined {
		const key = askedKey(acquisition);
		const agent = this.#asked.get(key);
		this.#asked.delete(key);
		return agent;
	}

	/** Over the wire, the caller has its own copy of a count, decoded from the agent's bytes. */
	copied(said: Count, read: Count): void {
		const known = this.#counted.get(said);
		if (known !== undefined) this.#counted.set(read, known);
		const askedAt = this.#askedAt.get(said);
		if (askedAt !== undefined) this.#askedAt.set(read, askedAt);
	}

	/** A caller has received this count. */
	heard({ acquisition, count }: CountedUnder): void {
		const known = this.#counted.get(count);
		const key = keyOf(count.clusterId, acquisition.nonce);
		if (known !== undefined) this.#heard.set(key, known);
		const askedAt = this.#askedAt.get(count);
		if (askedAt !== undefined) this.#unwritten.set(key, askedAt);
	}

	/** What the round knew of this cluster by the acquisitions that it committed there. Undefined if it committed none there. */
	ofRound(clusterId: string, committed: readonly { readonly cluster: string; readonly nonce: string }[]) {
		const own = committed.filter(({ cluster }) => cluster === clusterId);
		return own.reduce<number | undefined>((latest, { nonce }) => {
			const known = this.#heard.get(keyOf(clusterId, nonce));
			return latest === undefined || (known ?? 0) > latest ? known : latest;
		}, undefined);
	}
}

/** An absent id is an empty string in a message. */
function askedKey({ leaseUid, nonce, countId = "", unwritten }: AskedAcquisition): string {
	return keyOf(leaseUid, nonce, unwritten?.lease ?? countId);
}

function keyOf(...parts: readonly (string | number | undefined)[]): string {
	return JSON.stringify(parts);
}
