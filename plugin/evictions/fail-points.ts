// Does nothing. Builds for crash tests (scripts/build.ts --test) replace this file with test/fail-points/plugin-fail-points.ts, so shipped
// programs have no fail points.
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EvictorMaker } from "./send-eviction.ts";

export function membersWithFailPoints(
	members: readonly AgentCluster[],
	_env: NodeJS.ProcessEnv,
): readonly AgentCluster[] {
	return members;
}

/** Called before a suspension or its end is written, after the dry runs of the writes. */
export function beforeSuspending(_env: NodeJS.ProcessEnv): void {
	return;
}

export function evictorWithFailPoints(maker: EvictorMaker, _env: NodeJS.ProcessEnv): EvictorMaker {
	return maker;
}
