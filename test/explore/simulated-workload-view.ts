// The shipped view of workloads, over one simulated watch on all of their kinds.
import type { WorkloadRecord } from "../../agent/cluster-api/workload-record.ts";
import type { Clock } from "../../agent/process/clock.ts";
import { ObjectStore } from "../../agent/views/object-views.ts";
import { type WorkloadView, workloadViewOf } from "../../agent/views/workload-view.ts";
import { type Feed, openFeed } from "./feed.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";
import { namespace } from "./workload.ts";

export class SimulatedWorkloadView {
	readonly view: WorkloadView;
	readonly #store: ObjectStore<WorkloadRecord>;

	constructor(clock: Pick<Clock, "now" | "after">, isRecent: () => boolean) {
		this.#store = new ObjectStore({
			clock,
			keyOf: ({ kind, name }) => `${kind}/${name}`,
			namespaceOf: (workload) => workload.namespace,
		});
		this.view = workloadViewOf([this.#store], { isRecent, wanted: () => undefined });
	}

	/** Lists the workloads, and watches from there. */
	open({ workloads, revision }: SimulatedApiServer): Feed {
		this.#store.replace(workloads.list(namespace), String(revision));
		return openFeed<WorkloadRecord>("workload", workloads.events, this.#store);
	}
}
