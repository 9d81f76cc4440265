// Turns pods into records. Views keep what is equal once (agent/views/pod-columns.ts), except the texts of a status, which are shared here.
import { type PodRecord, podRecord } from "../../disruption/budget/pod.ts";
import type { PodStatus } from "../../disruption/budget/pod-status.ts";

/** With more different texts than this, the cache is cleared: later pods then share only among themselves. */
const maxShared = 20_000;

/** Returns a projection with its own cache. It throws TypeError on an object that is not a complete pod. */
export function createPodProjection(): (pod: unknown) => PodRecord {
	const texts = new Map<string, string>();

	function share(text: string): string {
		const known = texts.get(text);
		if (known !== undefined) return known;
		if (texts.size >= maxShared) texts.clear();
		texts.set(text, text);
		return text;
	}

	/** The scheduler reports the same texts for many pods. */
	function shareStatus({ state, message, ...status }: PodStatus): PodStatus {
		return {
			...status,
			...(state !== undefined && { state: share(state) }),
			...(message !== undefined && { message: share(message) }),
		};
	}

	return (pod) => {
		const record = podRecord(pod);
		return record.status ? { ...record, status: shareStatus(record.status) } : record;
	};
}
