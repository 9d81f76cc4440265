// Finds the agent of this cluster that keeps the line of waiting callers: the ready one with the lowest name. Other agents forward their
// callers to it.
//
// The line only provides fairness. If agents disagree about that agent, or it is unreachable, each agent serves its own callers, and the
// Lease decides.
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import type { AcquireOptions, AcquireOutcome, AcquireRequest } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";
import { RemoteCluster, type RemoteClusterOptions } from "../../proto/remote-cluster.ts";
import type { Clock } from "../process/clock.ts";
import type { PodView } from "../views/pod-view.ts";
import type { PeerClients } from "./peer-clients.ts";

/** Another replica answers in milliseconds. If it is frozen, enough time remains to serve the caller here. */
const replicaDeadlineMs = 2_000;
/** A frozen replica may look ready for this long: three failed probes, 2 s apart. */
const suspectForMs = 6_000;

interface ReplicasOptions {
	readonly clusterId: string;
	readonly clusterName: string;
	/** This agent's pod. */
	readonly pod: { readonly name: string; readonly namespace: string };
	readonly pods: Pick<PodView, "pods">;
	/** Not shared: connections that no replica needs are closed. */
	readonly clients: PeerClients;
	/** Returns HOST:PORT of the replica's peer port; undefined if the pod has no address or is gone. */
	readonly addressOf: (pod: PodRecord) => Promise<string | undefined>;
	readonly clock: Pick<Clock, "now">;
	readonly report: (problem: unknown) => void;
}

export class Replicas {
	readonly #options: ReplicasOptions;
	/** By pod uid; undefined while the address is being requested. */
	readonly #addresses = new Map<string, string | undefined>();
	readonly #suspectUntil = new Map<string, number>();

	constructor(options: ReplicasOptions) {
		this.#options = options;
	}

	/** Returns the agent that keeps the line; undefined if this agent serves the caller itself. */
	lineHost(onBehalfOf?: PassedOnCaller): RemoteCluster | undefined {
		const { pod, clusterId, clusterName, clients } = this.#options;
		const agents = this.#readyAgents();
		this.#forgetOthers(agents);
		for (const agent of agents) {
			if (agent.name === pod.name) return undefined;
			if (this.#isSuspect(agent)) continue;
			const address = this.#findAddress(agent);
			if (address === undefined) return undefined;
			return new LineHost(
				{
					id: clusterId,
					name: clusterName,
					client: clients.get({ id: clusterId, address }),
					deadlineMs: replicaDeadlineMs,
					passedOn: "line",
					...(onBehalfOf && { onBehalfOf }),
				},
				() => this.#suspect(agent),
			);
		}
		return undefined;
	}

	#readyAgents(): readonly PodRecord[] {
		const { pods, pod } = this.#options;
		return [...pods.pods(pod.namespace)]
			.filter(({ labels, ready, terminating }) => labels[agentLabel] === agentName && ready && !terminating)
			.toSorted((a, b) => (a.name < b.name ? -1 : 1));
	}

	/** Returns the known address. If there is none, requests it for later calls. */
	#findAddress(agent: PodRecord): string | undefined {
		if (!this.#addresses.has(agent.uid)) {
			this.#addresses.set(agent.uid, undefined);
			this.#options.addressOf(agent).then(
				(address) => {
					if (address === undefined) this.#suspect(agent);
					else this.#addresses.set(agent.uid, address);
				},
				(error: unknown) => {
					this.#suspect(agent);
					this.#options.report(error);
				},
			);
		}
		return this.#addresses.get(agent.uid);
	}

	#isSuspect({ uid }: PodRecord): boolean {
		return this.#options.clock.now() < (this.#suspectUntil.get(uid) ?? 0);
	}

	/** Skips the agent for a while, then looks up its address again. */
	#suspect({ uid }: PodRecord): void {
		this.#suspectUntil.set(uid, this.#options.clock.now() + suspectForMs);
		this.#addresses.delete(uid);
	}

	#forgetOthers(agents: readonly PodRecord[]): void {
		const uids = new Set(agents.map(({ uid }) => uid));
		for (const uid of this.#addresses.keys()) if (!uids.has(uid)) this.#addresses.delete(uid);
		for (const uid of this.#suspectUntil.keys()) if (!uids.has(uid)) this.#suspectUntil.delete(uid);
		const { clients, clusterId: id } = this.#options;
		clients.keep([...this.#addresses.values()].flatMap((address) => (address === undefined ? [] : [{ id, address }])));
	}
}

class LineHost extends RemoteCluster {
	readonly #onUnavailable: () => void;

	constructor(options: RemoteClusterOptions, onUnavailable: () => void) {
		super(options);
		this.#onUnavailable = onUnavailable;
	}

	override async acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		try {
			return await super.acquire(request, options);
		} catch (error) {
			if (error instanceof AgentUnavailableError) this.#onUnavailable();
			throw error;
		}
	}
}
