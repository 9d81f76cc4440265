// Evicts pods with the plugin's eviction engine in this process, against the real agents, or with bare eviction calls.
import type { V1Pod } from "@kubernetes/client-node";
import { createJob, createTimeout } from "../../plugin/evictions/eviction-job.ts";
import { Evictions } from "../../plugin/evictions/evictions.ts";
import { createEvictor } from "../../plugin/evictions/send-eviction.ts";
import { readGlobalFlags } from "../../plugin/flags/global-flags.ts";
import { connectFleet } from "../../plugin/fleet/connect-fleet.ts";
import type { Fleet } from "../../plugin/fleet/fleet.ts";
import { holderIdentity } from "../../plugin/fleet/holder-identity.ts";
import { Reachability } from "../../plugin/fleet/reachability.ts";
import { openContexts } from "../../plugin/kubernetes/open-contexts.ts";
import { createRunRuntime } from "../../plugin/run/run-runtime.ts";
import { stderrSink } from "../support/stderr-sink.ts";
import type { Bench } from "./bench.ts";

/** `cluster` is the index of the cluster. */
export interface BenchPod {
	readonly cluster: number;
	readonly pod: V1Pod;
}

export interface Evictor {
	/** Resolves when the eviction is accepted, otherwise rejects. */
	evict(pod: BenchPod): Promise<void>;
	close(): Promise<void>;
}

export interface EngineEvictor extends Evictor {
	readonly fleet: Fleet;
}

export async function openEvictor({ fleet: { contexts, kubeconfigPath } }: Bench): Promise<EngineEvictor> {
	const flags = readGlobalFlags({
		kubeconfig: kubeconfigPath,
		contexts: contexts.map((context) => `${context}-operator`),
	});
	const opened = openContexts(flags, {}, stderrSink);
	const { fleet } = await connectFleet(opened);
	if (!fleet) throw new Error("the bench's clusters have no agents");
	const options = { gracePeriodSeconds: -1, deletes: false, dryRun: false };
	const closing = new AbortController();
	const runtime = createRunRuntime(() => undefined);
	const emit = (): void => undefined;
	const evictions = new Evictions({
		fleet,
		holder: holderIdentity("bench", "evict"),
		options,
		evictor: createEvictor(options, emit),
		runtime,
		reachability: new Reachability(emit, () => runtime.now()),
		stop: closing.signal,
		emit,
		waitsUntilGone: false,
		skipWaitAfterSeconds: 0,
		wallClock: () => Date.now(),
	});
	const timeout = createTimeout(0, "");
	return {
		fleet,
		async evict({ cluster, pod }) {
			const context = opened[cluster];
			if (!context) throw new Error(`no cluster ${cluster}`);
			const outcome = await evictions.evict(createJob(pod, { context, timeout, gracePeriodSeconds: -1 }));
			if (outcome.kind !== "evicted") throw new Error(`pod ${pod.metadata?.name} was not evicted: ${outcome.kind}`);
		},
		async close() {
			closing.abort(new Error("the measurement is over"));
			await evictions.settled();
			fleet.close();
			for (const { client } of opened) client.close();
		},
	};
}

export function bareEvictor({ operators }: Bench): Evictor {
	return {
		async evict({ cluster, pod }) {
			const { namespace, name } = pod.metadata ?? {};
			await operators[cluster]?.send("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
				apiVersion: "policy/v1",
				kind: "Eviction",
				metadata: { name, namespace },
			});
		},
		close: async () => undefined,
	};
}
