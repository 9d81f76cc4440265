// Makes the plugin die or pause at a named step, to test crashes on real clusters. Builds for tests (scripts/build.ts --test) have this
// file instead of plugin/evictions/fail-points.ts.
import type { EvictorMaker } from "../../plugin/evictions/send-eviction.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { forwardingCluster } from "../../proto/forwarding-cluster.ts";

type Step = "before-suspend" | "after-acquire" | "mid-commit" | "after-commit" | "before-evict" | "after-evict";

/** Adds the steps after-acquire (all members have acquired), mid-commit (the first commit stood) and after-commit (all stood). */
export function membersWithFailPoints(
	members: readonly AgentCluster[],
	env: NodeJS.ProcessEnv,
): readonly AgentCluster[] {
	const acquired = new Set<string>();
	const committed = new Set<string>();
	return members.map((member) =>
		forwardingCluster(member, {
			async acquire(...asked) {
				committed.clear();
				const outcome = await member.acquire(...asked);
				if (outcome.kind === "acquired") acquired.add(member.id);
				if (acquired.size === members.length) reach("after-acquire", env);
				return outcome;
			},
			async commit(...asked) {
				acquired.clear();
				const outcome = await member.commit(...asked);
				if (outcome.kind === "stood") committed.add(member.id);
				if (committed.size > 0) reach("mid-commit", env);
				if (committed.size === members.length) reach("after-commit", env);
				return outcome;
			},
		}),
	);
}

export function beforeSuspending(env: NodeJS.ProcessEnv): void {
	reach("before-suspend", env);
}

export function evictorWithFailPoints(maker: EvictorMaker, env: NodeJS.ProcessEnv): EvictorMaker {
	return (...args) => {
		const evictor = maker(...args);
		return {
			read: (pod) => evictor.read(pod),
			async evict(...request) {
				reach("before-evict", env);
				const answer = await evictor.evict(...request);
				reach("after-evict", env);
				return answer;
			},
		};
	};
}

function reach(step: Step, env: NodeJS.ProcessEnv): void {
	if (env["XPDB_FAIL_POINT"] === step) process.kill(process.pid, "SIGKILL");
	// Only once, so that a resumed process continues.
	if (env["XPDB_PAUSE_POINT"] === step && !paused) {
		paused = true;
		process.kill(process.pid, "SIGSTOP");
	}
}

let paused = false;
