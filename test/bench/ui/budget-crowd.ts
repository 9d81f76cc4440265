// Measures `budgets -w` with 1,000 budgets in three clusters, idle and under changes, and a drain that waits. Uses the processor time of
// single processes, so that other load does not count.
import { setTimeout as delay } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import type { Bench } from "../bench.ts";
import { fillCluster } from "../crowded-cluster.ts";
import type { Measurement } from "../measurement.ts";
import { median, quantile } from "../statistics.ts";
import { type Churn, startChurn, turn } from "./churn.ts";
import { growth } from "./growth.ts";
import { keyTimes } from "./key-times.ts";
import { type BenchScreen, contextFlag, loadText, openScreen } from "./screen.ts";
import { WatchedProcess, type Window } from "./watched-process.ts";

const budgets = 1_000;
const changesPerSecond = 50;
const windowMs = 10_000;
const windowsPerMinute = 60_000 / windowMs;
const idleWindows = 3;
/** After this time, code is compiled and the garbage of the start collected. */
const settleMs = 10_000;
/** Clocks and ages stay below this, changing rows far above it. */
const stillBytesPerSecond = 100;
const stillWithinMs = 180_000;
const keys = { idle: 200, busy: 100 };
/** A shorter run cannot show whether memory grows. */
const flatAfterMinutes = 10;

export const budgetCrowd: Measurement = {
	name: "ui-crowd",
	group: "ui",
	ratios: [
		"ui_idle_budgets_percent",
		"ui_key_ms",
		"ui_key_ms_p99",
		"ui_busy_plugin_percent",
		"ui_busy_agent_percent",
		"ui_busy_frames_a_second",
		"ui_busy_bytes_a_frame",
		"ui_busy_key_ms_p99",
		"ui_busy_plugin_memory",
		"ui_busy_agent_memory",
		"ui_idle_drain_percent",
	],
	on: "screens",
	// Each run is one minute of changes.
	runs: { full: 10, short: 1 },
	onlyByName: true,
	async measure(bench, minutes) {
		const namespace = "crowd";
		const pods = await fill(bench, namespace);
		const scene: Scene = { bench, namespace, pods };
		const { idle, idleKeys, busy, busyKeys } = await watchBudgets(scene, minutes);
		const drain = await waitingDrain(scene);
		const memory = (side: "plugin" | "agent") => growth(busy.windows.map((window) => window[side].rssMb));
		const isLong = minutes >= flatAfterMinutes;
		const tooShort = `memory is watched for ${flatAfterMinutes} minutes, and this run was of ${minutes}`;
		return {
			ratios: {
				ui_idle_budgets_percent: idle,
				ui_key_ms: [median(idleKeys)],
				ui_key_ms_p99: [quantile(idleKeys, 0.99)],
				ui_busy_plugin_percent: busy.windows.map(({ plugin }) => plugin.percent),
				ui_busy_agent_percent: busy.windows.map(({ agent }) => agent.percent),
				ui_busy_frames_a_second: busy.framesPerSecond,
				ui_busy_bytes_a_frame: busy.bytesPerFrame,
				ui_busy_key_ms_p99: [quantile(busyKeys, 0.99)],
				...(isLong && { ui_busy_plugin_memory: [memory("plugin")], ui_busy_agent_memory: [memory("agent")] }),
				ui_idle_drain_percent: drain,
			},
			...(!isLong && { missing: { ui_busy_plugin_memory: tooShort, ui_busy_agent_memory: tooShort } }),
			details: { budgets, clusters: bench.fleet.clusters.length, minutes, busy: busy.windows, idleKeys, busyKeys },
		};
	},
};

interface Scene {
	readonly bench: Bench;
	readonly namespace: string;
	/** The pods' names, the same in every cluster. Each budget covers one pod per cluster. */
	readonly pods: readonly string[];
}

async function fill({ fleet, log }: Bench, namespace: string): Promise<readonly string[]> {
	log(`  making ${budgets} budgets with a pod each in ${fleet.clusters.length} clusters`);
	const filledAt = performance.now();
	const options = { apps: budgets, podsPerApp: 1, budgets: { apps: budgets, maxUnavailable: 1 }, namespace };
	await Promise.all(
		fleet.clusters.map(async (cluster) => {
			await fillCluster(cluster, options);
			// kwok forwards ports to the agents and sets the pods' readiness.
			cluster.thaw("kwok");
		}),
	);
	log(`  that took ${((performance.now() - filledAt) / 1_000).toFixed(0)} s`);
	const list = await fleet.clusters[0]?.client.get<{ items: readonly V1Pod[] }>(`/api/v1/namespaces/${namespace}/pods`);
	return list?.items.map(({ metadata }) => metadata?.name ?? "") ?? [];
}

interface BusyWindow {
	readonly plugin: Window;
	/** The agent that used the most processor time over all windows. */
	readonly agent: Window;
	readonly changesPerSecond: number;
}

interface Busy {
	readonly windows: readonly BusyWindow[];
	readonly framesPerSecond: readonly number[];
	readonly bytesPerFrame: readonly number[];
}

async function watchBudgets({ bench, namespace, pods }: Scene, minutes: number) {
	using screen = openScreen(bench, ["budgets", "-n", namespace, contextFlag(bench), "-w"]);
	await screen.terminal.shows(new RegExp(`3/3 live +${budgets} budgets`));
	await comesToRest(screen);
	const idle = await idlePercents(screen);
	bench.log(`  idle: ${percents(idle)} of a core; ${loadText()}`);
	const idleKeys = await keyTimes(screen, keys.idle);
	bench.log(`  ${keyText(idleKeys)}`);
	const clients = bench.fleet.clusters.map(({ client }) => client);
	const churn = startChurn({ clients, namespace, pods, perSecond: changesPerSecond });
	try {
		await delay(settleMs);
		const busy = await watchChurn({ bench, screen, churn }, minutes);
		// Sorted by name, rows stay in place. Otherwise the selected row could become the last one, with none below it.
		screen.terminal.press("s");
		await screen.terminal.shows("sort BUDGET");
		const busyKeys = await keyTimes(screen, keys.busy);
		bench.log(`  meanwhile ${keyText(busyKeys)}`);
		return { idle, idleKeys, busy, busyKeys };
	} finally {
		await churn.stop();
	}
}

async function watchChurn(
	{ bench, screen, churn }: { readonly bench: Bench; readonly screen: BenchScreen; readonly churn: Churn },
	minutes: number,
): Promise<Busy> {
	const plugin = new WatchedProcess(screen.terminal.pid);
	const agents = bench.fleet.agents
		.flatMap((each) => each.list())
		.flatMap(({ process }) => (process ? [new WatchedProcess(process.pid)] : []));
	const seen: { readonly plugin: Window; readonly agents: readonly Window[]; readonly changesPerSecond: number }[] = [];
	const startedAt = performance.now();
	let changes = churn.changes;
	for (let window = 0; window < minutes * windowsPerMinute; window += 1) {
		const from = performance.now();
		await delay(windowMs);
		const seconds = (performance.now() - from) / 1_000;
		const last = {
			plugin: plugin.window(),
			agents: agents.map((agent) => agent.window()),
			changesPerSecond: (churn.changes - changes) / seconds,
		};
		seen.push(last);
		changes = churn.changes;
		if ((window + 1) % windowsPerMinute !== 0) continue;
		bench.log(
			`  minute ${(window + 1) / windowsPerMinute}: ${last.changesPerSecond.toFixed(0)} changes a second; plugin ` +
				`${last.plugin.percent.toFixed(1)} % and ${last.plugin.rssMb.toFixed(0)} MB; agents ` +
				`${percents(last.agents.map(({ percent }) => percent))}; ${loadText()}`,
		);
	}
	const total = (agent: number): number => seen.reduce((sum, { agents: all }) => sum + (all[agent]?.percent ?? 0), 0);
	const [busiest = 0] = [...agents.keys()].toSorted((a, b) => total(b) - total(a));
	const windows = seen.flatMap(({ agents: all, ...rest }) => {
		const agent = all[busiest];
		return agent ? [{ ...rest, agent }] : [];
	});
	const until = performance.now();
	const frames = screen.frames.between(startedAt, until);
	return {
		windows,
		framesPerSecond: screen.frames.perSecond(startedAt, until),
		bytesPerFrame: frames.map(({ bytes }) => bytes),
	};
}

/** Drains a node with a pod whose budget is used up by another pod. Returns the idle use of the screen in percent of a core. */
async function waitingDrain({ bench, namespace, pods }: Scene): Promise<readonly number[]> {
	const [here, there] = bench.fleet.clusters;
	const [pod = ""] = pods;
	if (!here || !there) throw new Error("no clusters");
	for (const { client } of bench.fleet.clusters) await turn(client, { namespace, pod, ready: true });
	await turn(there.client, { namespace, pod, ready: false });
	const { spec, metadata } = await here.client.get<V1Pod>(`/api/v1/namespaces/${namespace}/pods/${pod}`);
	using screen = openScreen(bench, [
		"drain",
		`${bench.fleet.contexts[0]}-operator/${spec?.nodeName}`,
		contextFlag(bench),
		`--pod-selector=app=${metadata?.labels?.["app"]}`,
		"--ui=full",
	]);
	await screen.terminal.shows(/BudgetExhausted|waits for budget|waiting/i);
	await comesToRest(screen);
	const idle = await idlePercents(screen);
	bench.log(`  a drain that waits: ${percents(idle)} of a core; ${loadText()}`);
	screen.terminal.press("\u0003");
	await screen.terminal.ended;
	return idle;
}

/** Waits until the screen stops changing, because thousands of new pods take a while to become ready. */
async function comesToRest({ frames }: BenchScreen): Promise<void> {
	const until = performance.now() + stillWithinMs;
	for (;;) {
		const from = performance.now();
		await delay(settleMs);
		const to = performance.now();
		const bytes = frames.between(from, to).reduce((sum, frame) => sum + frame.bytes, 0);
		if (bytes < (stillBytesPerSecond * (to - from)) / 1_000) return;
		if (to > until) throw new Error(`the screen does not come to rest: ${bytes} bytes in ${settleMs / 1_000} s`);
	}
}

async function idlePercents({ terminal }: BenchScreen): Promise<readonly number[]> {
	const process = new WatchedProcess(terminal.pid);
	const percents: number[] = [];
	for (let window = 0; window < idleWindows; window += 1) {
		await delay(windowMs);
		percents.push(process.window().percent);
	}
	return percents;
}

function percents(values: readonly number[]): string {
	return values.map((value) => `${value.toFixed(1)} %`).join(", ");
}

function keyText(times: readonly number[]): string {
	return `key to frame: p50 ${median(times).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms; ${loadText()}`;
}
