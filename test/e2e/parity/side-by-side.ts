// Runs kubectl and kubectl xpdb in every situation, each in a cluster or namespace that is prepared in the same way. A recorded outcome
// replaces the run of kubectl.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import type { SharedFleet } from "../../controlplane/shared-fleet.ts";
import { mergeTries, type Outcome, readOutcome, withoutProgress } from "./outcome.ts";
import type { RecordedOutcomes } from "./recorded-outcomes.ts";
import { runInOrder, startCommand } from "./running-command.ts";
import { clear, createScene, createScenes, lookAt, type Scene, type Stage, settle } from "./scene.ts";
import type { Situation } from "./situation.ts";

export interface Pair {
	readonly kubectl: Outcome;
	readonly ours: Outcome;
}

export interface SideBySide {
	outcomes(name: string): Promise<Pair>;
	close(): Promise<void>;
}

/** More concurrent pairs would not finish sooner, because simulated nodes and counts of budgets would be late. */
const pairsAtOnce = 4;

export interface Stages {
	readonly kubectl: Stage;
	readonly ours: Stage;
}

/**
 * Prepares all situations and runs them in order, some concurrently. `bin` contains kubectl and kubectl-xpdb. Situations in `recorded` run
 * without kubectl.
 */
export async function runSideBySide(
	situations: readonly Situation[],
	stages: (situation: Situation) => Stages,
	{ bin, recorded }: { readonly bin: string; readonly recorded: RecordedOutcomes },
): Promise<SideBySide> {
	const home = mkdtempSync(join(tmpdir(), "xpdb-parity-"));
	// Otherwise, programs could use the cluster in whose pod the test runs.
	const env = {
		...process.env,
		KUBERNETES_SERVICE_HOST: "",
		HOME: home,
		PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
	};
	const scenes = situations.map((situation, index) => {
		const { kubectl, ours } = stages(situation);
		// In one cluster, each program needs its own names.
		const [left, right] = kubectl.cluster === ours.cluster ? ["k", "x"] : ["", ""];
		return {
			kubectl: recorded.find(situation) ? undefined : createScene(situation, kubectl, `parity-${index}${left}`),
			ours: createScene(situation, ours, `parity-${index}${right}`),
		};
	});
	const all = scenes.flatMap(({ kubectl, ours }) => (kubectl ? [kubectl, ours] : [ours]));
	const clients = new Map(all.map(({ cluster, client }) => [cluster, client]));
	await Promise.all(
		[...clients].map(([cluster, client]) =>
			createScenes(
				all.filter((scene) => scene.cluster === cluster),
				client,
			),
		),
	);
	const queue = [...situations.entries()];
	const pairs = new Map<string, PromiseWithResolvers<Pair>>();
	for (const { name } of situations) {
		const pair = Promise.withResolvers<Pair>();
		// Awaited later. Until then, a failure must not end the process.
		pair.promise.catch(() => undefined);
		pairs.set(name, pair);
	}
	const work = Array.from({ length: pairsAtOnce }, async () => {
		for (let next = queue.shift(); next; next = queue.shift()) {
			const [index, situation] = next;
			const scene = scenes[index];
			const pair = pairs.get(situation.name);
			if (!scene || !pair) throw new Error("a situation without a scene");
			const both = Promise.all([
				scene.kubectl ? play(situation, scene.kubectl, "kubectl", env) : recorded.find(situation),
				play(situation, scene.ours, "kubectl-xpdb", env),
			]);
			await both.then(([kubectl, ours]) => {
				if (kubectl) pair.resolve({ kubectl, ours });
				else pair.reject(new Error("nothing of kubectl is recorded"));
			}, pair.reject);
		}
	});
	return {
		outcomes: async (name) => {
			const pair = pairs.get(name);
			if (!pair) throw new Error(`no situation is called "${name}"`);
			return pair.promise;
		},
		async close() {
			await Promise.all(work);
			await Promise.all([...clients.values()].map(clear));
			rmSync(home, { recursive: true, force: true });
		},
	};
}

async function play(
	situation: Situation,
	scene: Scene,
	program: "kubectl" | "kubectl-xpdb",
	env: NodeJS.ProcessEnv,
): Promise<Outcome> {
	const { contexts, kubeconfig, namespace } = scene;
	await settle(scene);
	await situation.prepare?.(scene);
	const commands = situation.commands(scene).map((line) => () => {
		const context = contexts[situation.user ?? "operator"];
		const args = situation.ownContext ? line : [...line, `--context=${context}`];
		return startCommand(program, args, { ...env, ...situation.env, KUBECONFIG: kubeconfig });
	});
	const results = await runInOrder(commands, (command) => situation.during?.(scene, command));
	const outcome = readOutcome(results, await lookAt(scene), namespace);
	const merged = situation.triesVary ? mergeTries(outcome) : outcome;
	return situation.takesLong ? merged : withoutProgress(merged);
}

export function connectStage(
	cluster: Pick<SharedFleet["clusters"][number], "name" | "server" | "dir" | "auditLog">,
	rest: Pick<Stage, "kubeconfig" | "contexts" | "webhook">,
): Stage {
	return { ...rest, cluster: cluster.name, auditLog: cluster.auditLog, client: createAdminClient(cluster) };
}
