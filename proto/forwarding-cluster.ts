// Creates members of the fleet that forward their calls to another cluster object. All calls are listed here once, and the compiler checks
// that none is missing.
import type { AgentCluster } from "./agent-cluster.ts";

export type ClusterQuestion = Exclude<keyof AgentCluster, "id" | "name">;

/** `put` sends the call to the given cluster. */
type QuestionForwarder = <Answer>(
	put: (cluster: AgentCluster) => Promise<Answer>,
	question: ClusterQuestion,
) => Promise<Answer>;

/** Creates a cluster that answers nothing itself and passes every call to `forward`. */
export function clusterBehind(
	{ id, name }: Pick<AgentCluster, "id" | "name">,
	forward: QuestionForwarder,
): AgentCluster {
	return {
		id,
		name,
		acquire: (...asked) => forward((cluster) => cluster.acquire(...asked), "acquire"),
		count: (...asked) => forward((cluster) => cluster.count(...asked), "count"),
		renew: (...asked) => forward((cluster) => cluster.renew(...asked), "renew"),
		commit: (...asked) => forward((cluster) => cluster.commit(...asked), "commit"),
		release: (...asked) => forward((cluster) => cluster.release(...asked), "release"),
		confirm: (...asked) => forward((cluster) => cluster.confirm(...asked), "confirm"),
		cancel: (...asked) => forward((cluster) => cluster.cancel(...asked), "cancel"),
		describe: (...asked) => forward((cluster) => cluster.describe(...asked), "describe"),
		listBudgets: (...asked) => forward((cluster) => cluster.listBudgets(...asked), "listBudgets"),
		listLeases: (...asked) => forward((cluster) => cluster.listLeases(...asked), "listLeases"),
		endHolding: (...asked) => forward((cluster) => cluster.endHolding(...asked), "endHolding"),
		look: (...asked) => forward((cluster) => cluster.look(...asked), "look"),
		watchBudgets: (...asked) => forward((cluster) => cluster.watchBudgets(...asked), "watchBudgets"),
	};
}

/** Returns the same cluster, except for the calls in `answeredHere`. */
export function forwardingCluster(
	cluster: AgentCluster,
	answeredHere: Partial<Pick<AgentCluster, ClusterQuestion>>,
): AgentCluster {
	return { ...clusterBehind(cluster, (put) => put(cluster)), ...answeredHere };
}
