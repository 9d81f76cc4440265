// Adds no fail points. Builds for crash tests (scripts/build.ts --test) replace this file with test/fail-points/agent-fail-points.ts. The
// shipped program has no such code, whatever its environment says.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { WatchSink } from "../kubernetes/watch-sink.ts";

export function withFailPoints(api: ClusterApi, _environment: NodeJS.ProcessEnv): ClusterApi {
	return api;
}

export function withHeldEvents(sink: WatchSink<PodRecord>, _environment: NodeJS.ProcessEnv): WatchSink<PodRecord> {
	return sink;
}
