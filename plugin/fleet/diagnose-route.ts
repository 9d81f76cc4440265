// Finds which part is silent when no answer comes through a context's port-forward: its API server, or its agents, which also forward calls
// for other clusters. To find out, it asks the API server for a sign of life. If another cluster is silent, the agents report that before
// the call times out.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { ApiError, ConnectionError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

interface WayIn {
	readonly context: Pick<KubeContext, "name"> & { readonly client: Pick<KubeContext["client"], "get"> };
	/** The name of the context's cluster in the fleet. */
	readonly cluster: string;
}

/** Short, because the caller has already waited for seconds, and a healthy API server answers in milliseconds. */
const signOfLifeMs = 1_000;

/** Returns a function that diagnoses errors of one route. Concurrent failures share one request to the API server. */
export function diagnoseRoute(wayIn: WayIn): (error: AgentUnavailableError) => Promise<AgentUnavailableError> {
	let asked: Promise<string | undefined> | undefined;
	return async (error) => {
		if (!isOpen(error)) return error;
		asked ??= apiServerProblem(wayIn).finally(() => {
			asked = undefined;
		});
		return diagnosed(error, wayIn, await asked);
	};
}

/** `problem`: why the API server gives no sign of life. */
function diagnosed(
	error: AgentUnavailableError,
	{ context, cluster }: WayIn,
	problem: string | undefined,
): AgentUnavailableError {
	if (problem === undefined) {
		const message = `${error.message} (asked through the agents of context "${context.name}", whose API server answers)`;
		return new AgentUnavailableError(message, cluster, { cause: error, silent: "agent" });
	}
	const message = `cannot reach the agents of cluster "${cluster}": the API server of context "${context.name}" does not answer (${problem}). It may hang, or the network may be down`;
	return new AgentUnavailableError(message, cluster, { cause: error, silent: "apiServer" });
}

/** Whether it is unknown which part was silent. What an agent reported itself is accepted. */
function isOpen({ silent, told }: AgentUnavailableError): boolean {
	return silent !== undefined && !told;
}

/** Returns why the API server gives no sign of life; undefined if it answers. */
async function apiServerProblem({ context }: WayIn): Promise<string | undefined> {
	const signal = AbortSignal.timeout(signOfLifeMs);
	try {
		await context.client.get("/version", { signal, retry: false });
		return undefined;
	} catch (error) {
		if (signal.aborted) return `nothing within ${signOfLifeMs / 1000} s`;
		if (error instanceof ApiError) return undefined;
		if (error instanceof ConnectionError) return error.message;
		throw error;
	}
}
