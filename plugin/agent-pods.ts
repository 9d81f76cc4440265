// The agents of one cluster, found by label in any namespace; the way to one that answers.
import type { V1Container, V1Pod } from "@kubernetes/client-node";
import type { Socket } from "node:net";
import { ApiError, errorText } from "./api-error.ts";
import type { KubernetesClient } from "./kubernetes.ts";
import { forwardToPod } from "./port-forward.ts";

export const agentLabel = "app.kubernetes.io/name";
export const agentLabelValue = "xpdb-agent";
/** Where the shipped manifests put the agents. */
export const defaultAgentNamespace = "xpdb-system";
/** How an agent is told of another namespace for its Leases. */
const leaseNamespaceFlag = "--lease-namespace";
const leaseNamespaceVariable = "XPDB_LEASE_NAMESPACE";
const grpcPortName = "grpc";
const defaultGrpcPort = 8443;
/** An agent whose connection just broke goes to the end of the list for so long: it may be frozen and still called ready. */
const avoidBrokenForMs = 10_000;
/** A list of agents this old is good enough for the next connection of the same moment. */
const listFreshForMs = 500;

export interface AgentPod {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	readonly ready: boolean;
	readonly port: number;
	/** Where its Leases are; its certificate is for that namespace. */
	readonly leaseNamespace: string;
}

/** Whether a pod is an agent of ours: those go last when a node is drained. */
export function isAgentPod(labels: Readonly<Record<string, string>>): boolean {
	return labels[agentLabel] === agentLabelValue;
}

/** All agents, ready ones first, then by name. Who may not list pods everywhere is asked in the default namespace. */
export async function findAgentPods(client: KubernetesClient): Promise<readonly AgentPod[]> {
	const query = { labelSelector: `${agentLabel}=${agentLabelValue}` };
	let pods: readonly V1Pod[];
	try {
		pods = await client.list<V1Pod>("/api/v1/pods", query);
	} catch (error) {
		if (!(error instanceof ApiError && error.code === 403)) throw error;
		pods = await client.list<V1Pod>(`/api/v1/namespaces/${defaultAgentNamespace}/pods`, query);
	}
	return pods
		.filter(({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.phase === "Running")
		.map(readAgentPod)
		.toSorted((a, b) => Number(b.ready) - Number(a.ready) || (a.name < b.name ? -1 : 1));
}

/** Joins sockets with ready agents of one cluster. */
export class AgentDialer {
	readonly #client: KubernetesClient;
	readonly #brokenAt = new Map<string, number>();
	readonly #leaving = new Set<string>();
	#pods: Promise<readonly AgentPod[]> | undefined;
	#current: AgentPod | undefined;
	#problem: string | undefined;

	constructor(client: KubernetesClient) {
		this.#client = client;
	}

	/** The agent of the last connection. */
	get current(): AgentPod | undefined {
		return this.#current;
	}

	/** Why the last connection could not be made, or was closed by the other side. */
	get problem(): string | undefined {
		return this.#problem;
	}

	/** This agent is about to be evicted: use it only where there is no other. */
	leave(uid: string): void {
		this.#leaving.add(uid);
	}

	async connect(socket: Socket): Promise<void> {
		const ready = (await this.#list()).filter((pod) => pod.ready);
		if (ready.length === 0) throw this.#failed("no agent is ready");
		for (const pod of ready.toSorted((a, b) => this.#rank(a) - this.#rank(b))) {
			try {
				const { ended } = await forwardToPod(this.#client, pod, socket);
				this.#current = pod;
				this.#problem = undefined;
				void ended.then((problem) => {
					this.#brokenAt.set(pod.uid, performance.now());
					this.#problem = problem;
				});
				return;
			} catch (error) {
				this.#brokenAt.set(pod.uid, performance.now());
				this.#problem = `port-forward to pod ${pod.namespace}/${pod.name}: ${errorText(error)}`;
			}
		}
		throw this.#failed(this.#problem ?? "no agent could be reached");
	}

	#failed(problem: string): Error {
		this.#problem = problem;
		return new Error(problem);
	}

	#rank({ uid }: AgentPod): number {
		const brokenAt = this.#brokenAt.get(uid) ?? Number.NEGATIVE_INFINITY;
		return (this.#leaving.has(uid) ? 2 : 0) + (performance.now() - brokenAt < avoidBrokenForMs ? 1 : 0);
	}

	#list(): Promise<readonly AgentPod[]> {
		if (!this.#pods) {
			const pods = findAgentPods(this.#client);
			this.#pods = pods;
			const forget = (): void => {
				this.#pods = undefined;
			};
			pods.then(() => setTimeout(forget, listFreshForMs).unref(), forget);
		}
		return this.#pods;
	}
}

function readAgentPod({ metadata, spec, status }: V1Pod): AgentPod {
	const ports = spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
	return {
		namespace: metadata?.namespace ?? "",
		name: metadata?.name ?? "",
		uid: metadata?.uid ?? "",
		ready: status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false,
		port: ports.find(({ name }) => name === grpcPortName)?.containerPort ?? defaultGrpcPort,
		leaseNamespace:
			spec?.containers.map(findLeaseNamespace).find((found) => found !== undefined) ?? defaultAgentNamespace,
	};
}

/** As the agent itself reads it: the flag wins over the variable. */
function findLeaseNamespace({ command = [], args = [], env = [] }: V1Container): string | undefined {
	const words = [...command, ...args];
	const joined = words.find((word) => word.startsWith(`${leaseNamespaceFlag}=`))?.slice(leaseNamespaceFlag.length + 1);
	const at = words.indexOf(leaseNamespaceFlag);
	const apart = at === -1 ? undefined : words[at + 1];
	return joined ?? apart ?? env.find(({ name }) => name === leaseNamespaceVariable)?.value;
}
