// Nothing. Builds for tests of crashes (scripts/build.ts --test) have test/fail-points/plugin-fail-points.ts in the place of this file; what
// is shipped has no such code, whatever its environment says.
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EvictorMaker } from "./send-eviction.ts";

export function membersWithFailPoints(
	members: readonly AgentCluster[],
	_env: NodeJS.ProcessEnv,
): readonly AgentCluster[] {
	return members;
}

/** Everything was rehearsed, and nothing is written yet. */
export function beforeSuspending(_env: NodeJS.ProcessEnv): void {
	return;
}

export function evictorWithFailPoints(maker: EvictorMaker, _env: NodeJS.ProcessEnv): EvictorMaker {
	return maker;
}
