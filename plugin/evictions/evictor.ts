// The pod's API server, as the domain asks it to carry a ticket out.
import type { Evictor } from "../../disruption/round/eviction.ts";
import type { EventSink } from "../events/events.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import { type EvictionOptions, type Refusal, readPod, requestEviction } from "./eviction-request.ts";

/** Makes the evictor of one ticket; a test build puts its fail points around it. */
export type EvictorMaker = (job: EvictionJob, budgets: readonly string[]) => Evictor<Refusal>;

/** Its evictors say once that they evict, however often the version has to be read anew. */
export function createEvictor(options: EvictionOptions, emit: EventSink): EvictorMaker {
	return (job, budgets) => {
		const { client } = job.context;
		let isTold = false;
		return {
			async evict(pod, preconditions, reservationId, guard) {
				if (!isTold) {
					isTold = true;
					job.attempts += 1;
					emit({
						type: "pod.evicting",
						...podEvent(job),
						dryRun: "none",
						deletes: options.deletes,
						budgets,
						attempt: job.attempts,
					});
				}
				return requestEviction(client, pod, options, { preconditions, reservationId, guard });
			},
			read: async (pod) => readPod(client, pod),
		};
	};
}
