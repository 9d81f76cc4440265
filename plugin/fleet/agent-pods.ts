// Finds the agents of one cluster by label, and connects to one that answers.
//
// Guarantee: only pods of the anchor, and of the namespaces that the anchor's ConfigMap xpdb-fleet names, are treated as agents. The anchor
// is namespace xpdb-system, unless the user names another.
//
// Assumption: a user who may write in these namespaces is trusted as the agent.
import type { Socket } from "node:net";
import type { V1Pod } from "@kubernetes/client-node";
import { agentLabel, agentName, defaultAgentPort, defaultFleetConfigMap } from "../../disruption/agent-names.ts";
import { agentNamespacesKey, readAgentNamespaces } from "../../disruption/agent-namespaces.ts";
import { BoundedError } from "../../disruption/bounded-error.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { afterOwnTime } from "../kubernetes/after-own-time.ts";
import { errorText, isNotFound } from "../kubernetes/api-error.ts";
import type { KubernetesClient } from "../kubernetes/kubernetes-client.ts";
import { readyCondition } from "../kubernetes/pod-status.ts";
import { dialPod, hangUp, type PodConnection, type PodPort } from "../kubernetes/port-forward.ts";

const grpcPortName = "grpc";
/** An agent whose connection broke is tried after the others for this long: it may be frozen while its pod is still reported as ready. */
const avoidBrokenForMs = 10_000;
/**
 * Time for the port-forward to open, and again for the TLS handshake, before the plugin tries another agent. Doubled if no other working
 * agent is left, because another agent may start meanwhile.
 */
const silentForMs = 3_000;
/** Connections made at nearly the same moment share one list of agents. */
const listFreshForMs = 500;

export interface AgentPod {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	readonly ready: boolean;
	readonly port: number;
}

/** Whether a pod is one of our agents. `namespaces`: those that may contain agents. */
export function isAgentPod(
	{ namespace, labels }: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
	namespaces: readonly string[],
): boolean {
	return labels[agentLabel] === agentName && namespaces.includes(namespace);
}

/** The list of namespaces in the anchor's ConfigMap xpdb-fleet cannot be used. */
export class AgentNamespacesError extends BoundedError {
	override readonly name = "AgentNamespacesError";
}

export interface AgentPlaces {
	/** Whether ConfigMap xpdb-fleet exists, which makes the cluster a member of a fleet. */
	readonly isMember: boolean;
	/** The anchor and the namespaces that its fleet names. */
	readonly namespaces: readonly string[];
}

/** Returns the anchor and the namespaces that its fleet names. Throws AgentNamespacesError, ApiError or ConnectionError. */
export async function findAgentNamespaces(client: KubernetesClient, anchor: string): Promise<readonly string[]> {
	return (await findAgentPlaces(client, anchor)).namespaces;
}

/** Reads the anchor's ConfigMap xpdb-fleet. Throws as findAgentNamespaces() does. */
export async function findAgentPlaces(client: KubernetesClient, anchor: string): Promise<AgentPlaces> {
	let map: { readonly data?: Readonly<Record<string, unknown>> };
	try {
		map = await client.get(`/api/v1/namespaces/${anchor}/configmaps/${defaultFleetConfigMap}`);
	} catch (error) {
		if (isNotFound(error)) return { isMember: false, namespaces: [anchor] };
		throw error;
	}
	const text = map.data?.[agentNamespacesKey];
	if (text === undefined) return { isMember: true, namespaces: [anchor] };
	const named = readAgentNamespaces(typeof text === "string" ? await parseYaml(text, anchor) : text);
	if (named.kind === "invalid") throw unusable(anchor, named.why);
	return { isMember: true, namespaces: [...new Set([anchor, ...named.namespaces])] };
}

async function parseYaml(text: string, anchor: string): Promise<unknown> {
	const { parse } = await import("yaml"); // Loaded only here: most fleets name no namespaces.
	try {
		const list: unknown = parse(text, { logLevel: "error" });
		return list;
	} catch (error) {
		throw unusable(anchor, `${agentNamespacesKey} is neither YAML nor JSON: ${parserProblem(error)}`);
	}
}

function unusable(anchor: string, why: string): AgentNamespacesError {
	return new AgentNamespacesError(`cannot use ConfigMap ${anchor}/${defaultFleetConfigMap}: ${why}`);
}

/** Returns the running agents in these namespaces: ready agents first, then by name. Terminating pods are left out. */
export async function findAgentPods(
	client: KubernetesClient,
	namespaces: readonly string[],
): Promise<readonly AgentPod[]> {
	const labelSelector = `${agentLabel}=${agentName}`;
	const lists = await Promise.all(
		namespaces.map((namespace) => client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`, { labelSelector })),
	);
	return lists
		.flat()
		.filter(({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.phase === "Running")
		.map(readAgentPod)
		.toSorted((a, b) => Number(b.ready) - Number(a.ready) || (a.name < b.name ? -1 : 1));
}

/** A connection that was started before the plugin knows whether it may use the agent. The promise may reject before it is awaited. */
export interface DialedAhead {
	/** The uid of the agent's pod. */
	readonly uid: string;
	readonly connection: Promise<PodConnection>;
}

export function dialAhead(client: KubernetesClient, { uid, ...pod }: PodPort & Pick<AgentPod, "uid">): DialedAhead {
	const connection = dialPod(client, pod);
	connection.catch(() => undefined);
	return { uid, connection };
}

interface DialerOptions {
	/** The agents of the given namespaces, if they were just listed. */
	readonly pods?: readonly AgentPod[];
	/** The first connection to use, if it leads to a ready pod. Otherwise it is closed. */
	readonly ahead?: DialedAhead | undefined;
	/** The uid of the only pod to connect to. */
	readonly only?: string;
	readonly patienceMs?: number;
}

export class AgentDialer {
	readonly #client: KubernetesClient;
	readonly namespaces: readonly string[];
	readonly #brokenAt = new Map<string, number>();
	readonly #leaving = new Set<string>();
	readonly #only: string | undefined;
	readonly #patienceMs: number;
	#pods: Promise<readonly AgentPod[]> | undefined;
	#current: AgentPod | undefined;
	#problem: string | undefined;
	#ahead: DialedAhead | undefined;

	constructor(
		client: KubernetesClient,
		namespaces: readonly string[],
		{ pods, ahead, only, patienceMs = silentForMs }: DialerOptions = {},
	) {
		this.#client = client;
		this.namespaces = namespaces;
		this.#ahead = ahead;
		this.#only = only;
		this.#patienceMs = patienceMs;
		if (pods) void this.#keep(Promise.resolve(pods));
	}

	get current(): AgentPod | undefined {
		return this.#current;
	}

	/** Why the last connection failed, or why the other side closed it. */
	get problem(): string | undefined {
		return this.#problem;
	}

	/** Tries this agent, which is about to be evicted, only after all others. */
	leave(uid: string): void {
		this.#leaving.add(uid);
	}

	/**
	 * Connects the socket to a ready agent. Rejects if none can be reached. `isUp`: whether the socket's client is connected to an agent.
	 */
	async connect(socket: Socket, isUp: () => boolean): Promise<void> {
		const tried = new Set<string>();
		for (;;) {
			// The list is requested again once it is older than listFreshForMs, so it includes agents that have replaced others.
			const ready = (await this.#list()).filter((pod) => pod.ready && (this.#only ?? pod.uid) === pod.uid);
			const ahead = this.#takeAhead(ready);
			if (ready.length === 0) throw this.#failed("no agent is ready");
			const [pod, ...others] = ready
				.filter(({ uid }) => !tried.has(uid))
				.toSorted((a, b) => this.#rank(a, ahead) - this.#rank(b, ahead));
			if (!pod) throw this.#failed(this.#problem ?? "no agent could be reached");
			tried.add(pod.uid);
			const patienceMs = this.#patienceMs * (others.some((other) => !this.#isBroken(other)) ? 1 : 2);
			try {
				const connection = await this.#dial(pod, ahead, patienceMs);
				this.#join(pod, { connection, socket, isUp, patienceMs });
				return;
			} catch (error) {
				this.#brokenAt.set(pod.uid, performance.now());
				this.#problem = `port-forward to pod ${pod.namespace}/${pod.name}: ${errorText(error)}`;
			}
		}
	}

	#join(
		pod: AgentPod,
		{
			connection,
			socket,
			isUp,
			patienceMs,
		}: {
			readonly connection: PodConnection;
			readonly socket: Socket;
			readonly isUp: () => boolean;
			readonly patienceMs: number;
		},
	): void {
		this.#current = pod;
		this.#problem = undefined;
		const stopWaiting = afterOwnTime(patienceMs, () => {
			if (!isUp()) socket.destroy();
		});
		void connection.join(socket).then((problem) => {
			stopWaiting();
			this.#brokenAt.set(pod.uid, performance.now());
			this.#problem = problem;
		});
	}

	async #dial(pod: AgentPod, ahead: DialedAhead | undefined, patienceMs: number): Promise<PodConnection> {
		if (pod.uid !== ahead?.uid) return openWithin(dialPod(this.#client, pod), patienceMs);
		const connection = await openWithin(ahead.connection, patienceMs);
		// The connection may have waited for a long time, and its agent may be gone.
		return connection.isOver ? openWithin(dialPod(this.#client, pod), patienceMs) : connection;
	}

	#failed(problem: string): Error {
		this.#problem = problem;
		return new Error(problem);
	}

	/** Closes the connection that was dialed ahead, if it was never used. */
	close(): void {
		this.#takeAhead([]);
	}

	/** Returns the connection that was dialed ahead, at most once. Closes it if it leads to none of these pods. */
	#takeAhead(ready: readonly AgentPod[]): DialedAhead | undefined {
		const ahead = this.#ahead;
		this.#ahead = undefined;
		if (!ahead || ready.some(({ uid }) => uid === ahead.uid)) return ahead;
		hangUp(ahead.connection);
		return undefined;
	}

	#rank(pod: AgentPod, ahead: DialedAhead | undefined): number {
		if (pod.uid === ahead?.uid) return -1;
		return (this.#leaving.has(pod.uid) ? 2 : 0) + (this.#isBroken(pod) ? 1 : 0);
	}

	#isBroken({ uid }: AgentPod): boolean {
		const brokenAt = this.#brokenAt.get(uid) ?? Number.NEGATIVE_INFINITY;
		return performance.now() - brokenAt < avoidBrokenForMs;
	}

	#list(): Promise<readonly AgentPod[]> {
		return this.#pods ?? this.#keep(findAgentPods(this.#client, this.namespaces));
	}

	#keep(pods: Promise<readonly AgentPod[]>): Promise<readonly AgentPod[]> {
		this.#pods = pods;
		const forget = (): void => {
			this.#pods = undefined;
		};
		pods.then(() => setTimeout(forget, listFreshForMs).unref(), forget);
		return pods;
	}
}

/** Closes the connection and rejects if it does not open within `ms`. */
async function openWithin(connection: Promise<PodConnection>, ms: number): Promise<PodConnection> {
	const { promise: late, reject } = Promise.withResolvers<never>();
	const stopWaiting = afterOwnTime(ms, () => {
		hangUp(connection);
		reject(new Error(`no answer within ${ms / 1000} s`));
	});
	try {
		return await Promise.race([connection, late]);
	} finally {
		stopWaiting();
	}
}

function readAgentPod(pod: V1Pod): AgentPod {
	const { metadata, spec } = pod;
	const ports = spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
	return {
		namespace: metadata?.namespace ?? "",
		name: metadata?.name ?? "",
		uid: metadata?.uid ?? "",
		ready: readyCondition(pod) !== undefined,
		port: ports.find(({ name }) => name === grpcPortName)?.containerPort ?? defaultAgentPort,
	};
}
