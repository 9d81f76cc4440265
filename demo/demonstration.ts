// The story of `npm start`: three clusters, a database with a budget, and a drain of one node in each cluster.
import type { PodTimes } from "./apiserver/controllers/kubelet.ts";
import { readTimeline } from "./audit/audit.ts";
import { findViolations, replayAvailability, worstUnavailable } from "./audit/availability.ts";
import { HealthBoard } from "./health-board.ts";
import { buildPrograms } from "./machine/build-programs.ts";
import { SetupError } from "./machine/setup-error.ts";
import { type Narrator, noBreak } from "./narrator.ts";
import { PluginRuns } from "./plugin-run.ts";
import { type SmallFleet, startSmallFleet } from "./small-fleet.ts";
import { offerThingsToTry } from "./things-to-try.ts";

export interface DemonstrationOptions {
	readonly narrator: Narrator;
	readonly dir: string;
	/** The port of the first API server. 0 means any free port. */
	readonly port: number;
	/** By default, the one built from this repository. */
	readonly plugin?: string;
	/** Whether to keep running after the story until `signal` aborts. */
	readonly keep: boolean;
	/** Whether the plugin shows its screen during the drain. */
	readonly hasTerminal: boolean;
	readonly signal: AbortSignal;
	/** Called if the drain was interrupted. The caller aborts `signal`. */
	readonly onStopped: (exitCode: number) => void;
}

// Passed on explicitly, because the agents do not inherit the environment of this process.
const compileCache = process.env["NODE_COMPILE_CACHE"];
const names = ["eu", "us", "ap"];
// As in database.yaml.
const database = { namespace: "default", matchLabels: { app: "db" }, expected: 2 * names.length };
const maxUnavailable = 1;
/** Slow enough to watch. */
const times: PodTimes = { startMs: 100, readyMs: 500, stopMs: 300 };

/** Rejects with the reason of `signal` if that aborts the story. All clusters have stopped when the promise settles. */
export async function demonstrate(options: DemonstrationOptions): Promise<void> {
	const { narrator, dir, port, signal, hasTerminal } = options;
	// An abort listener that is added later is not called.
	signal.throwIfAborted();
	narrator.heading("xpdb: one budget over three clusters");
	narrator.say(`Starting three small API servers on this machine: ${names.join(", ")}.`);
	const startedAt = performance.now();
	const programs = buildPrograms(() => narrator.say("Building the plugin and the agent, once."));
	const agent = programs.then((built) => built.agent);
	// startSmallFleet() reports a failed build.
	agent.catch(() => undefined);
	const board = new HealthBoard(database.expected, ["app", "db"]);
	let isDraining = false;
	const clusters = startSmallFleet({
		names,
		dir,
		port,
		nodes: 3,
		times,
		program: agent,
		environment: compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache },
		onPod(health) {
			const change = board.apply(health);
			if (change && isDraining && !hasTerminal) narrator.aside(change.text, change.isGood);
		},
	});
	const aborted = new Promise<never>((_resolve, reject) => {
		signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
	});
	aborted.catch(() => undefined);
	const runs = new PluginRuns();
	try {
		const fleet = await Promise.race([clusters.ready, aborted]);
		const whileUp = <T>(work: Promise<T>): Promise<T> => Promise.race([work, fleet.broken, aborted]);
		narrator.say("Installing the agents from agent/deploy, and a database: two replicas in each cluster.");
		await whileUp(board.complete(names.length));
		narrator.say(
			`All ${database.expected} replicas are healthy after ${seconds(startedAt)}. Their budget: at most one may be down, in all clusters together.`,
		);
		const plugin = options.plugin ?? (await programs).plugin;
		const run = async (args: readonly string[]): Promise<number> => {
			const call = { plugin, args, dir, kubeconfig: fleet.kubeconfigPath, signal, narrator, hasTerminal };
			return whileUp(runs.run(call));
		};
		isDraining = true;
		const nodes = names.map((name) => `${name}-operator/${board.nodeOf(`${name}/db-0`)}`);
		await drain(nodes, { narrator, run, fleet, onStopped: options.onStopped, signal });
		isDraining = false;
		if (!options.keep) return;
		narrator.heading("Taking the cordons away");
		await run(["uncordon", ...nodes, ...inAllContexts]);
		offerThingsToTry({ narrator, dir, plugin, kubeconfig: fleet.kubeconfigPath, names });
		// Ctrl-C is the intended end.
		await whileUp(new Promise<never>(() => undefined)).catch((error: unknown) => {
			if (!signal.aborted) throw error;
		});
	} finally {
		// It may still run if a cluster's process has ended.
		await runs.end();
		await clusters.stop();
	}
}

const inAllContexts = ["--contexts", names.map((name) => `${name}-operator`).join(","), "-y"];

interface Scene {
	readonly narrator: Narrator;
	readonly run: (args: readonly string[]) => Promise<number>;
	readonly fleet: SmallFleet;
	readonly onStopped: (exitCode: number) => void;
	readonly signal: AbortSignal;
}

async function drain(nodes: readonly string[], { narrator, run, fleet, onStopped, signal }: Scene): Promise<void> {
	const args = ["drain", ...nodes, ...inAllContexts, "--ignore-daemonsets"];
	narrator.heading("Draining one node in each cluster, all three at once:");
	narrator.command(`kubectl xpdb ${args.join(" ")}`);
	narrator.blank();
	const startedAt = performance.now();
	const code = await run(args);
	// On a terminal, only the plugin's screen receives Ctrl-C.
	if (code === 130 || code === 143) onStopped(code);
	signal.throwIfAborted();
	if (code !== 0)
		throw new SetupError(`The drain ended with code ${code}`, { hint: "That should not happen: please tell us" });
	const samples = replayAvailability(await readTimeline(fleet.auditLogs), database);
	const disruptions = samples.filter(({ disruption }) => disruption).length;
	const worst = worstUnavailable(samples);
	if (findViolations(samples, { maxUnavailable }).length > 0 || worst > maxUnavailable) {
		throw new SetupError(`The budget was broken: ${worst} replicas were down at once`, { hint: "Please tell us" });
	}
	narrator.heading(`Done after ${seconds(startedAt)}.`);
	narrator.say(
		`The API servers' own logs say: ${disruptions} evictions of the database, and never more than ${worst} of ${database.expected} replicas down at any moment.`,
	);
}

function seconds(since: number): string {
	return `${((performance.now() - since) / 1_000).toFixed(1)}${noBreak}s`;
}
