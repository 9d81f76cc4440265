// Connects the agent to its own cluster: opens the connection, and reads the cluster's id and display name.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { ApiAccess } from "../kubernetes/api-access.ts";
import { type ApiConnection, createApiConnection } from "../kubernetes/api-connection.ts";
import type { Clock } from "../process/clock.ts";
import type { AgentConfig } from "../process/config.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { type ClusterApiOptions, createClusterApi } from "./create-cluster-api.ts";

export interface ConnectedCluster {
	readonly connection: ApiConnection;
	readonly api: ClusterApi;
	readonly clusterName: string;
}

export interface ConnectClusterOptions {
	readonly access: ApiAccess;
	readonly config: Pick<AgentConfig, "leaseNamespace" | "agentNamespace" | "fleetConfigMap" | "clusterName">;
	readonly clock: Clock;
	readonly signal: AbortSignal;
	/** Called when the API server gives no usable answer (retried every second), or when the fleet cannot be read. */
	readonly onTrouble: (error: AgentUnavailableError) => void;
}

const retryMs = 1_000;

/** Connects, and retries while the API server gives no usable answer. Rejects with the reason of `signal` when it aborts. */
export async function connectCluster(options: ConnectClusterOptions): Promise<ConnectedCluster> {
	const { access, config, clock } = options;
	const apiOptions = {
		leaseNamespace: config.leaseNamespace,
		fleetConfigMap: config.fleetConfigMap,
		fleetNamespace: config.agentNamespace,
		clock,
	};
	const clusterName = config.clusterName ?? (await nameInFleet(apiOptions, options));
	const connection = createApiConnection({ access, clock, cluster: clusterName });
	const api = await askUntilAnswered(() => createClusterApi(connection, apiOptions), options);
	return { connection, api, clusterName };
}

/**
 * Returns the fleet's name for this cluster, or else its id. Uses its own connection, because the messages of a connection name the
 * cluster.
 */
async function nameInFleet(apiOptions: ClusterApiOptions, options: ConnectClusterOptions): Promise<string> {
	const { access, clock } = options;
	const connection = createApiConnection({ access, clock, cluster: "of this agent" });
	try {
		const api = await askUntilAnswered(() => createClusterApi(connection, apiOptions), options);
		const { members } = await api.getFleet().catch((error: unknown) => {
			// The fleet is missing or unreadable: every count reports that, and it may be fixed while the agent runs.
			if (error instanceof AgentUnavailableError) options.onTrouble(error);
			else throw error;
			return { members: [] };
		});
		return members.find(({ id }) => id === api.clusterId)?.name ?? api.clusterId;
	} finally {
		connection.close();
	}
}

async function askUntilAnswered<T>(
	ask: () => Promise<T>,
	{ clock, signal, onTrouble }: ConnectClusterOptions,
): Promise<T> {
	for (;;) {
		signal.throwIfAborted();
		try {
			return await ask();
		} catch (error) {
			if (!(error instanceof AgentUnavailableError)) throw error;
			onTrouble(error);
		}
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = clock.after(retryMs, resolve);
		const end = (): void => resolve();
		signal.addEventListener("abort", end, { once: true });
		await promise;
		cancel();
		signal.removeEventListener("abort", end);
	}
}
