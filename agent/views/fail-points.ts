// Adds no fail points to the shipped program. Builds for crash tests (scripts/build.ts --test) replace this file with
// test/fail-points/agent-fail-points.ts.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { WatchSink } from "../kubernetes/watch-sink.ts";

export function withFailPoints(api: ClusterApi, _environment: NodeJS.ProcessEnv): ClusterApi {
	return api;
}

export function withHeldEvents(sink: WatchSink<PodRecord>, _environment: NodeJS.ProcessEnv): WatchSink<PodRecord> {
	return sink;
}
