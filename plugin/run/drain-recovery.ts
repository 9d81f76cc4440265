// Implements drain --for=replaced: measures the pods' budgets before the drain, and waits afterwards until these budgets have recovered.
// Each of the two steps has the full --timeout.
import type { DrainOptions } from "../drain/drain.ts";
import { podsToTake } from "../drain/pods-to-take.ts";
import { createTimeout } from "../evictions/eviction-job.ts";
import type { PodTarget } from "../evictions/pod-targets.ts";
import {
	type Measured,
	type RecoveryWaitDependencies,
	waitUntilMeasured,
	waitUntilRecovered,
} from "../evictions/recovery.ts";
import { formatDuration } from "../flags/duration.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { ApiError, ConnectionError } from "../kubernetes/api-error.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import type { EvictionSession } from "./eviction-session.ts";

export function drainRecovery(session: EvictionSession, fleet: Fleet, options: DrainOptions, stop: AbortSignal) {
	const within = (): RecoveryWaitDependencies => {
		const timeout = createTimeout(options.timeoutMs, formatDuration(options.timeoutMs));
		session.limit(timeout.signal);
		return { ...session, fleet, timeout, stop };
	};
	return {
		async measure(nodes: readonly NodeTarget[]) {
			const lists = await Promise.all(nodes.map((node) => podsOf(node, options)));
			return waitUntilMeasured(lists.flat(), within());
		},
		wait: (before: readonly Measured[]) => waitUntilRecovered(before, within()),
	};
}

async function podsOf(node: NodeTarget, options: DrainOptions): Promise<readonly PodTarget[]> {
	try {
		const { take } = await podsToTake(node, options, Date.now());
		return take.map((pod) => ({ context: node.context, pod }));
	} catch (error) {
		// The node's own drain reports this error and evicts none of its pods.
		if (error instanceof ApiError || error instanceof ConnectionError) return [];
		throw error;
	}
}
