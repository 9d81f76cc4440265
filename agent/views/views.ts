// Opens the agent's views of its cluster (pods, its own Leases, budgets, and each kind of workload), each from one watch.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { allPods } from "../cluster-api/pod-calls.ts";
import { createPodProjection } from "../cluster-api/pod-projection.ts";
import type { ApiConnection } from "../kubernetes/api-connection.ts";
import { podFields } from "../kubernetes/protobuf-fields.ts";
import { type ListProgress, startWatch } from "../kubernetes/watch.ts";
import type { Clock } from "../process/clock.ts";
import { withHeldEvents } from "./fail-points.ts";
import { type BudgetView, createBudgetView, createLeaseView, type LeaseView } from "./object-views.ts";
import { PodStore } from "./pod-view.ts";
import { createWorkloadView, type WorkloadView } from "./workload-view.ts";

export interface Views {
	readonly pods: PodStore;
	readonly leases: LeaseView;
	readonly budgets: BudgetView;
	/** While this view is not proven, counts list workloads, so an agent without the right to list them can report that. */
	readonly workloads: WorkloadView;
	/** The list of pods that is being read. */
	readonly podList: ListProgress | undefined;
	/** How long the last complete list of pods took. */
	readonly podListMs: number | undefined;
	/** Whether a list of each kind except workloads is stored. */
	readonly synced: boolean;
	close(): void;
}

interface ViewsOptions {
	readonly connection: ApiConnection;
	readonly clock: Clock;
	readonly leaseNamespace: string;
	readonly env: NodeJS.ProcessEnv;
	/** Called when a watch broke, does not show what a list does, or met versions that went back. The watch is then opened again. */
	readonly onTrouble: (resource: string, message: string) => void;
	/** Called with all other errors. */
	readonly report: (problem: unknown) => void;
}

export function openViews(options: ViewsOptions): Views {
	const { connection, clock, leaseNamespace, env } = options;
	const common = (resource: string) => ({
		connection,
		clock,
		random: Math.random,
		warn: (message: string) => options.onTrouble(resource, message),
	});
	const pods = new PodStore({ clock });
	const podWatch = startWatch<PodRecord>({
		...common("pods"),
		resource: allPods,
		project: createPodProjection(),
		protobuf: podFields,
		sink: withHeldEvents(pods, env),
	});
	const leases = createLeaseView({ ...common("leases"), namespace: leaseNamespace });
	const budgets = createBudgetView({ ...common("budgets"), report: options.report });
	const workloads = createWorkloadView({
		connection,
		clock,
		random: Math.random,
		warn: options.onTrouble,
		report: options.report,
	});
	return {
		pods,
		leases: leases.view,
		budgets: budgets.view,
		workloads: workloads.view,
		get podList() {
			return podWatch.list;
		},
		get podListMs() {
			return podWatch.lastListMs;
		},
		get synced() {
			return pods.synced && leases.view.synced && budgets.view.synced;
		},
		close() {
			podWatch.close();
			leases.close();
			budgets.close();
			workloads.close();
		},
	};
}
