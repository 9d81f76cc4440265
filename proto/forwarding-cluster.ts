// A member of the fleet whose questions go on to another one: straight, changed, or by a way that is found anew for each.
// The questions that there are stand here once; the compiler sees that none is left out.
import type { AgentCluster } from "./agent-cluster.ts";

export type ClusterQuestion = Exclude<keyof AgentCluster, "id" | "name">;

/** How a question gets its answer: `put` puts it to the cluster that it is given. */
type QuestionForwarder = <Answer>(
	put: (cluster: AgentCluster) => Promise<Answer>,
	question: ClusterQuestion,
) => Promise<Answer>;

/** A cluster of that name that answers nothing by itself. */
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

/** The same cluster, but for what is answered here. */
export function forwardingCluster(
	cluster: AgentCluster,
	answeredHere: Partial<Pick<AgentCluster, ClusterQuestion>>,
): AgentCluster {
	return { ...clusterBehind(cluster, (put) => put(cluster)), ...answeredHere };
}
