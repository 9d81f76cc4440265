// Builds a ready pod in namespace shop, covered by budget shop/db, without a controller.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { labels } from "./build-count.ts";

export function newPod(name: string, more: Partial<PodRecord> = {}): PodRecord {
	return {
		uid: `uid-${name}`,
		name,
		namespace: "shop",
		resourceVersion: "100",
		labels,
		node: "n0",
		ready: true,
		terminating: false,
		finished: false,
		preActivities: [],
		...more,
	};
}
