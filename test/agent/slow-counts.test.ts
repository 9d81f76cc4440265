// Two drains want one pod after the other, over clusters whose API servers are slow to answer what a count reads.
import { describe, expect, test } from "vitest";
import type { Cluster, PodReference } from "../../disruption/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { runRound } from "../../disruption/round.ts";
import type { RoundRuntime } from "../../disruption/round-runtime.ts";
import { budget, selector } from "../disruption/build-count.ts";
import { newController } from "../disruption/build-lease.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { settle, type SimulatedAgents, simulateCluster } from "./simulated-agent.ts";

const stepMs = 50;
/** With one, nobody is handed a Lease for which somebody else waits. */
const grantsEach = 3;

interface SlowFleet {
	readonly clock: ManualClock;
	readonly worlds: readonly SimulatedAgents[];
	readonly clusters: readonly Cluster[];
	readonly live: () => void;
}

/** Clusters in which whatever a count reads takes this long; writes of Leases do not. */
function slowFleet(ids: readonly string[], countMs: number): SlowFleet {
	const clock = createManualClock();
	const fleet = ids.map((id) => ({ id, name: id, address: `${id}:9443` }));
	const worlds = ids.map((clusterId) => simulateCluster({ clusterId, clock, fleet }));
	for (const { server, newPod } of worlds) {
		const controller = newController("db");
		server.putController({ ...controller, namespace: "shop", replicas: 2 });
		for (const name of ["db-0", "db-1"]) newPod(name, { controller });
	}
	const agents = worlds.map((world) => world.newAgent());
	for (const agent of agents) {
		agent.before = async ({ resource }) => {
			if (resource === "fleet") await new Promise<void>((resolve) => void clock.after(countMs, resolve));
		};
	}
	const live = (): void => {
		for (const agent of agents) agent.see();
	};
	return { clock, worlds, clusters: agents.map(({ local }) => local), live };
}

function runtimeOn(clock: ManualClock, name: string): RoundRuntime {
	let ids = 0;
	return {
		now: () => clock.now(),
		newId: () => `${name}-${++ids}`,
		sleep: (ms, signal) =>
			new Promise((resolve) => {
				const cancel = clock.after(ms, resolve);
				signal.addEventListener("abort", () => {
					cancel();
					resolve();
				});
			}),
	};
}

/** Rounds for one pod until it was granted three times, as a drain runs them; what it is granted is taken back. */
async function drain({ clock, clusters }: SlowFleet, name: string, pod: PodReference): Promise<void> {
	const runtime = runtimeOn(clock, name);
	const { signal } = new AbortController();
	const [first] = clusters;
	if (!first) throw new Error("a fleet has a member");
	const sleep = (ms: number) => runtime.sleep(ms, signal);
	let contended = false;
	for (let grants = 0; grants < grantsEach; ) {
		const candidates = [{ clusterId: first.id, pod }];
		const onQueued = () => (contended = true);
		const request = { clusters, budgets: [{ name: budget, selector }], holder: name, candidates, signal, contended };
		contended = false;
		const outcome = await runRound({ ...request, onQueued }, runtime).catch((error: unknown) => {
			if (!(error instanceof AgentUnavailableError)) throw error;
		});
		const verdict = outcome?.kind === "decided" ? outcome.verdicts[0] : undefined;
		if (verdict?.kind === "granted") {
			grants += 1;
			await first.cancel(budget, [verdict.ticket.id], { sent: false });
		} else if (outcome?.kind !== "lost") await sleep(1_000);
	}
}

async function pass(fleet: SlowFleet, ms: number, until: () => boolean = () => false): Promise<void> {
	for (let left = ms; left > 0 && !until(); left -= stepMs) {
		fleet.clock.advance(stepMs);
		fleet.live();
		await settle();
		await settle();
	}
}

describe("two drains whose counts are slow", () => {
	const rows = [
		{ name: "2.1 s in one cluster", ids: ["eu"], countMs: 2_100, withinMs: 60_000 },
		{ name: "1.4 s in each of three", ids: ["ap", "eu", "us"], countMs: 1_400, withinMs: 60_000 },
		{ name: "7 s in each of two", ids: ["eu", "us"], countMs: 7_000, withinMs: 120_000 },
	];
	for (const { name, ids, countMs, withinMs } of rows) {
		test(`are both granted their pods: ${name}`, async () => {
			const fleet = slowFleet(ids, countMs);
			const [world] = fleet.worlds;
			const granted: string[] = [];
			for (const pod of ["db-0", "db-1"]) {
				const found = world?.server.getPod({ namespace: "shop", name: pod });
				if (found?.kind !== "present") throw new Error(`no pod ${pod}`);
				void drain(fleet, `drain of ${pod}`, found.pod).then(() => granted.push(pod));
			}
			await pass(fleet, withinMs, () => granted.length === 2);
			expect(granted.toSorted()).toEqual(["db-0", "db-1"]);
		});
	}
});
