// Runs one round over two simulated clusters with the agents' real code. The caller may garble the answers of the API servers.
import { createClusterApi } from "../../agent/cluster-api/create-cluster-api.ts";
import { createApiAsker } from "../../agent/kubernetes/api-asker.ts";
import type { ApiAnswer, ApiConnection, ApiRequestOptions } from "../../agent/kubernetes/api-connection.ts";
import { LocalCluster } from "../../agent/leases/local-cluster.ts";
import type { Clock } from "../../agent/process/clock.ts";
import type { BudgetView } from "../../agent/views/object-views.ts";
import { listPaged } from "../../agent/kubernetes/paged-list.ts";
import { allPods } from "../../agent/cluster-api/pod-calls.ts";
import { createPodProjection } from "../../agent/cluster-api/pod-projection.ts";
import { PodStore } from "../../agent/views/pod-view.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { leaseName } from "../../disruption/lease/lease.ts";
import { runRound } from "../../disruption/round/round.ts";
import type { RoundVerdict } from "../../disruption/round/ticket.ts";
import { parseLabelSelector } from "../../disruption/budget/selector.ts";
import { createAnsweringConnection } from "./answering-connection.ts";
import type { Json } from "./odd-values.ts";
import { budget, leaseObject, podObject, statefulSet } from "./seed-objects.ts";

export type ObjectKind = "pods" | "pod" | "fleet" | "lease" | "leases" | "budget" | "budgets" | "scale" | "workloads";

export type Garble = (answer: ApiAnswer) => ApiAnswer;

export interface ClusterState {
	readonly pods: readonly object[];
	/** Pods that only a GET shows. */
	readonly hidden?: readonly object[];
	readonly leases?: readonly object[];
	readonly budgetSpec: Json;
	readonly replicas?: number;
}

export interface WorldState {
	readonly clusters: readonly ClusterState[];
	readonly candidate: string;
	/** Whether a count lists the budgets, because their watch is not alive. */
	readonly listsBudgets: boolean;
}

export const threePods = [podObject("db-0"), podObject("db-1"), podObject("db-2")];

/** All timers fire at once, because waiting has no purpose here. */
const clock: Clock = {
	now: () => 0,
	after: (_ms, callback) => {
		const timer = setImmediate(callback);
		return () => clearImmediate(timer);
	},
	wallSeconds: () => 1_795_000_000,
};

const clusterIds = ["id-eu", "id-us"];

/** Runs one round for the candidate in the first cluster. `garble` is called for each answer of a kind in ObjectKind. */
export async function runGarbledRound(
	world: WorldState,
	garble: (cluster: number, kind: ObjectKind) => Garble | undefined,
): Promise<{ readonly verdicts: readonly RoundVerdict[]; readonly reservations: number }> {
	const servers = world.clusters.map((state, index) => new WorldServer(state, clusterIds[index] ?? ""));
	const clusters = await Promise.all(
		servers.map((server, index) => {
			const connection = server.connection((kind) => garble(index, kind));
			return openGarbledCluster(connection, index === 0 ? "eu-1" : "us-1", world.listsBudgets);
		}),
	);
	const queued = new AbortController();
	let ids = 0;
	const verdicts = await runRound(
		{
			clusters,
			budgets: [{ name: budget, selector: parseLabelSelector({ matchLabels: { app: "db" } }, "selector") }],
			holder: "drain-7f",
			candidates: [
				{ clusterId: "id-eu", pod: { namespace: "shop", name: world.candidate, uid: `uid-${world.candidate}` } },
			],
			signal: queued.signal,
			observer: {
				queued: () => queued.abort(new AgentUnavailableError('cannot wait for the Lease in cluster "eu-1"', "eu-1")),
			},
		},
		{
			now: () => 0,
			newId: () => `id-${++ids}`,
			sleep: (_ms, signal) =>
				new Promise((resolve) => {
					if (signal.aborted) resolve();
					signal.addEventListener("abort", () => resolve());
				}),
		},
	);
	return { verdicts, reservations: servers.reduce((sum, server) => sum + server.reservations, 0) };
}

/** Creates the agent's real LocalCluster over this connection. */
export async function openGarbledCluster(
	connection: ApiConnection,
	name: string,
	listsBudgets: boolean,
): Promise<LocalCluster> {
	const api = await createClusterApi(connection, {
		leaseNamespace: "xpdb-system",
		fleetConfigMap: "xpdb-fleet",
		fleetNamespace: "xpdb-system",
		clock,
	});
	const pods = new PodStore({ clock });
	const listed = await listPaged(createApiAsker(connection), allPods, createPodProjection());
	pods.replace(listed.objects, listed.resourceVersion);
	pods.signOfLife(0);
	const budgets: BudgetView = {
		synced: true,
		live: !listsBudgets,
		proven: !listsBudgets,
		wanted: () => undefined,
		budgets: () => [{ name: budget, spec: {} }],
		onChange: () => () => undefined,
	};
	let ids = 0;
	return new LocalCluster({
		api,
		pods,
		budgets,
		clock,
		name,
		version: "0.2.0",
		leaseNamespace: "xpdb-system",
		newId: () => `local-${++ids}`,
	});
}

const workloadsPath = /\/namespaces\/shop\/(deployments|statefulsets|daemonsets|replicasets|replicationcontrollers)$/;

/** The part of an API server that rounds and the agent's handlers need. */
export class WorldServer {
	readonly #state: ClusterState;
	readonly #id: string;
	readonly #leases = new Map<string, Record<string, unknown>>();
	#version = 200;

	constructor(state: ClusterState, id: string) {
		this.#state = state;
		this.#id = id;
		for (const lease of state.leases ?? []) this.#store(lease as Record<string, unknown>, "lease-uid");
	}

	connection(garble: (kind: ObjectKind) => Garble | undefined = () => undefined): ApiConnection {
		return createAnsweringConnection({
			answer: (request) => {
				const { kind, answer } = this.answer(request);
				const change = kind && garble(kind);
				return change ? change(answer) : answer;
			},
		});
	}

	get leases(): Iterable<unknown> {
		return this.#leases.values();
	}

	get reservations(): number {
		let sum = 0;
		for (const { metadata } of this.#leases.values()) {
			const { annotations } = metadata as { annotations: Record<string, string> };
			sum += (JSON.parse(annotations["xpdb.form3.tech/state"] ?? "{}") as { reservations: unknown[] }).reservations
				.length;
		}
		return sum;
	}

	answer({ method, path, body }: ApiRequestOptions): { readonly kind?: ObjectKind; readonly answer: ApiAnswer } {
		const [place = ""] = path.split("?");
		const name = place.split("/").at(-1) ?? "";
		const found = (kind: ObjectKind, object: unknown) => ({
			kind,
			answer:
				object === undefined ? missing(name) : { status: method === "POST" ? 201 : 200, body: structuredClone(object) },
		});
		const list = (items: unknown[]) => ({ metadata: { resourceVersion: String(this.#version) }, items });
		if (place === "/api/v1/namespaces/kube-system")
			return { answer: { status: 200, body: { metadata: { name, uid: this.#id, resourceVersion: "1" } } } };
		if (place.endsWith("/pods")) return found("pods", list([...this.#state.pods]));
		if (place.includes("/pods/")) return found("pod", this.#pod(name));
		if (place.includes("/configmaps/")) return found("fleet", fleetMap);
		if (place.includes("/statefulsets/")) {
			const spec = { ...statefulSet.spec, replicas: this.#state.replicas ?? 3 };
			return found("scale", { ...statefulSet, spec });
		}
		const [, plural] = workloadsPath.exec(place) ?? [];
		if (plural !== undefined) return found("workloads", list(plural === "statefulsets" ? [statefulSet] : []));
		if (place.endsWith("/xpoddisruptionbudgets")) return found("budgets", list([this.#budget()]));
		if (place.includes("/xpoddisruptionbudgets/")) return found("budget", this.#budget());
		if (place.endsWith("/leases") && method === "GET") return found("leases", list([...this.#leases.values()]));
		if (place.includes("/leases")) return found("lease", this.#lease(method, name, body as Record<string, unknown>));
		return { answer: missing(name) };
	}

	#pod(name: string): unknown {
		return [...this.#state.pods, ...(this.#state.hidden ?? [])].find(
			(pod) => (pod as { metadata: { name: string } }).metadata.name === name,
		);
	}

	#budget(): unknown {
		return { metadata: { ...budget, uid: "uid-of-budget", resourceVersion: "12" }, spec: this.#state.budgetSpec };
	}

	#lease(method: string, name: string, body: Record<string, unknown>): unknown {
		return method === "GET" ? this.#leases.get(name) : this.#store(body, "new-uid");
	}

	#store(lease: Record<string, unknown>, newUid: string): unknown {
		this.#version += 1;
		const metadata = lease["metadata"] as Record<string, unknown>;
		const stored = {
			...lease,
			metadata: { ...metadata, uid: metadata["uid"] ?? newUid, resourceVersion: String(this.#version) },
		};
		this.#leases.set(String(metadata["name"]), stored);
		return stored;
	}
}

const fleetMap = {
	metadata: { name: "xpdb-fleet", namespace: "xpdb-system", uid: "uid-of-fleet", resourceVersion: "3" },
	data: {
		members: JSON.stringify(
			clusterIds.map((id) => ({ id, name: id === "id-eu" ? "eu-1" : "us-1", address: `${id}.example.com:8444` })),
		),
	},
};

function missing(name: string): ApiAnswer {
	return {
		status: 404,
		body: { kind: "Status", status: "Failure", message: `"${name}" not found`, details: { name } },
	};
}

export function otherLease(more: Parameters<typeof leaseObject>[0]) {
	const lease = leaseObject(more);
	const annotations = { ...lease.metadata.annotations, "xpdb.form3.tech/budget": "shop/other" };
	return {
		...lease,
		metadata: { ...lease.metadata, name: leaseName({ namespace: "shop", name: "other" }), annotations },
	};
}
