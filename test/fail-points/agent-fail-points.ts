// Makes an agent die at a named step, or see pods late, to test crashes on real clusters. Builds for tests (scripts/build.ts --test) have
// this file instead of agent/views/fail-points.ts.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import type { WatchSink } from "../../agent/kubernetes/watch-sink.ts";
import { parseLease } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";

/** Returns an API that kills the process at the step that XPDB_FAIL_POINT names. */
export function withFailPoints(api: ClusterApi, environment: NodeJS.ProcessEnv): ClusterApi {
	const wanted = environment["XPDB_FAIL_POINT"];
	const dieAt = (step: string): void => {
		if (step === wanted) process.kill(process.pid, "SIGKILL");
	};
	const phaseOf = (lease: LeaseObject): string => parseLease({ ...lease }).state.phase;
	return {
		...api,
		async updateLease(lease) {
			const step = { held: "acquire", committed: "commit", released: "release" }[phaseOf(lease)] ?? "other";
			dieAt(`before-${step}-write`);
			const written = await api.updateLease(lease);
			dieAt(`after-${step}-write`);
			return written;
		},
		async listLeases(options) {
			dieAt("before-count");
			return api.listLeases(options);
		},
	};
}

/** Delays the changes that the sink gets by XPDB_HOLD_POD_EVENTS_MS. Lists are not delayed. */
export function withHeldEvents(sink: WatchSink<PodRecord>, environment: NodeJS.ProcessEnv): WatchSink<PodRecord> {
	const holdMs = Number(environment["XPDB_HOLD_POD_EVENTS_MS"] ?? 0);
	if (holdMs === 0) return sink;
	return {
		replace: (pods, version) => sink.replace(pods, version),
		apply: (event) => void setTimeout(() => sink.apply(event), holdMs),
		bookmark: (version) => void setTimeout(() => sink.bookmark(version), holdMs),
		reset: () => sink.reset(),
		signOfLife: (at) => sink.signOfLife(at),
		watchLost: () => sink.watchLost(),
	};
}
