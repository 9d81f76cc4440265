// The way to the agents behind a context, which answer for their cluster and pass on what is for others: a port-forward, which
// leads through the API server. Where nothing came from there, the API server is asked for a sign of life, so that neither of both
// is blamed for the other's silence, and no third cluster for theirs: agents say in time which other one did not answer.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { ApiError, ConnectionError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

interface WayIn {
	readonly context: Pick<KubeContext, "name"> & { readonly client: Pick<KubeContext["client"], "get"> };
	/** The name of the context's cluster in the fleet. */
	readonly cluster: string;
}

/** A round that waits for it has waited for seconds already, and a healthy API server answers in milliseconds. */
const signOfLifeMs = 1_000;

/** For one way: many calls fail together, and one question is enough for them. */
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

/** The error with what is known of the API server between: `problem` is why that one gives no sign of life. */
function diagnosed(
	error: AgentUnavailableError,
	{ context, cluster }: WayIn,
	problem: string | undefined,
): AgentUnavailableError {
	if (problem === undefined) {
		const message = `${error.message}; asked were the agents behind context "${context.name}", whose API server does answer`;
		return new AgentUnavailableError(message, cluster, { cause: error, silent: "agent" });
	}
	const message = `Cannot reach the agents of cluster "${cluster}": the API server of context "${context.name}", through which the way leads, gives no answer (${problem}): it hangs, or the network between does`;
	return new AgentUnavailableError(message, cluster, { cause: error, silent: "apiServer" });
}

/** Whether it is open who was silent: an agent that answers knows better. */
function isOpen({ silent, told }: AgentUnavailableError): boolean {
	return silent !== undefined && !told;
}

/** Why it gives no sign of life; undefined where it does. */
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
