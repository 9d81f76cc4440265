// One simulated cluster: its API server, its pods and its agents.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { AgentProcess } from "./agent-process.ts";
import type { AgentProcessOptions } from "./agent-process-options.ts";
import type { ClusterData } from "./scenario.ts";
import type { Step } from "./scheduler.ts";
import { SimulatedApiServer } from "./simulated-api.ts";
import { namespace, type Slot, Workload } from "./workload.ts";

export class SimulatedCluster {
	readonly id: string;
	readonly data: ClusterData;
	readonly server: SimulatedApiServer;
	readonly workloads: Workload[];
	readonly agents: AgentProcess[] = [];
	/**
	 * Ids that have greeted the cluster, or that its list had before a scenario left them out. They belong to its fleet, listed or not,
	 * until they are forgotten.
	 */
	readonly named = new Set<string>();
	readonly cordoned = new Set<string>();
	/** If true, plugins may list the cluster's pods, but not get one (403). */
	forbidsReads = false;
	nativeRefusals = 0;
	readonly #agentOptions: Omit<AgentProcessOptions<AgentProcess>, "name" | "server" | "ownPod">;
	#started = 0;

	constructor(
		data: ClusterData,
		memberIds: readonly string[],
		agentOptions: Omit<AgentProcessOptions<AgentProcess>, "name" | "server" | "ownPod">,
	) {
		this.id = data.id;
		this.data = data;
		this.#agentOptions = agentOptions;
		const fleet = (data.fleet ?? memberIds).map((id) => ({ id, name: id, address: `${id}:9443` }));
		this.server = new SimulatedApiServer({ clusterId: data.id, fleet, firstRevision: firstRevision(data) });
		if (agentOptions.knowsMembers) this.server.fleet = { ...this.server.fleet, version: "1" };
		this.workloads = data.workloads.map((spec) => new Workload(this.server, spec, this.cordoned));
		for (const { name, selector, ...spec } of data.budgets) {
			this.server.putBudget({ name: { namespace, name }, spec: { selector: { matchLabels: selector }, ...spec } });
		}
	}

	/** The sorted ids of the cluster's fleet: members that are listed or were named before, without the forgotten ones. */
	get fleet(): readonly string[] {
		const { members, forgotten } = this.server.fleet;
		const ids = new Set([...this.named, ...members.map(({ id }) => id)]);
		for (const { id } of forgotten) ids.delete(id);
		return [...ids].toSorted();
	}

	/** Changes the cluster's list, as a person does. */
	declares(members: readonly string[], forgotten: readonly string[]): void {
		const { version } = this.server.fleet;
		this.server.fleet = {
			...(version !== undefined && { version: String(Number(version) + 1) }),
			members: members.map((id) => ({ id, name: id, address: `${id}:9443` })),
			forgotten: forgotten.map((id) => ({ id })),
		};
	}

	startAgents(): void {
		for (let index = 0; index < this.data.agents; index += 1) this.#newAgent(index).startSynced();
	}

	/** Kills the agent and starts another one with an empty memory. */
	restartAgent(agent: AgentProcess): AgentProcess {
		const index = this.agents.indexOf(agent);
		agent.die();
		const next = this.#newAgent(index);
		next.startAnew();
		return next;
	}

	/** Whether the pod's phase is Pending. */
	hasNotStarted({ uid }: Pick<PodRecord, "uid">): boolean {
		const mayBe = this.workloads.some(({ startsLater }) => startsLater.has(uid));
		return mayBe && !this.server.podEvents.some(({ object }) => object.uid === uid && object.ready);
	}

	slotOf(pod: PodRecord): Slot | undefined {
		for (const workload of this.workloads) {
			for (const slot of workload.slots) if (slot.pod?.uid === pod.uid) return slot;
		}
		return undefined;
	}

	/** Returns the revision that every agent's view has reached. An agent without a view counts as current, because it will list. */
	slowestView(): number {
		return Math.min(
			...this.agents.filter(({ hasView }) => hasView).map((agent) => agent.podRevision),
			this.server.revision,
		);
	}

	kubeletSteps(): readonly Step[] {
		const steps: Step[] = [];
		for (const workload of this.workloads) workload.addSteps(steps, { onlyEnds: false });
		return steps;
	}

	fingerprint(): string {
		return [this.server.contents(), ...this.agents.map((agent) => agent.fingerprint())].join("\n");
	}

	#newAgent(index: number): AgentProcess {
		this.#started += 1;
		const life = this.#started > this.data.agents ? `.${this.#started - this.data.agents + 1}` : "";
		const name = `agent-${index}${life}`;
		const agent = new AgentProcess({
			...this.#agentOptions,
			name: `${this.id}/${name}`,
			server: this.server,
			ownPod: this.server.createAgentPod(name),
		});
		this.agents[index] = agent;
		return agent;
	}
}

/** Returns a first revision after which versions soon get one more digit, so that comparing versions as text would be noticed. */
function firstRevision({ workloads, budgets, agents }: ClusterData): number {
	const controllers = { StatefulSet: 1, ReplicaSet: 1, Deployment: 2, Database: 1, Job: 1, Bare: 0 } as const;
	const made = workloads.reduce(
		(sum, { kind, replicas }) => sum + replicas + controllers[kind],
		2 * budgets.length + agents,
	);
	return 995 - made;
}
