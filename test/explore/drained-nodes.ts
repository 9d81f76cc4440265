// Runs the shipped drain in a simulated plugin process, over nodes with only the fields that the drain reads.
import { drain } from "../../plugin/drain/drain.ts";
import type { EventSink } from "../../plugin/events/events.ts";
import type { Evictions } from "../../plugin/evictions/evictions.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";
import { drainOptions } from "../support/build-drain-options.ts";
import type { DrainData } from "./scenario.ts";
import type { SimulatedClock } from "./simulated-process.ts";

export interface NodeDrain {
	readonly data: DrainData;
	readonly evictions: Pick<Evictions, "evict">;
	readonly contexts: ReadonlyMap<string, KubeContext>;
	readonly isCordoned: (clusterId: string, node: string) => boolean;
	readonly clock: SimulatedClock;
	readonly stop: AbortSignal;
	readonly emit: EventSink;
}

export async function drainNodes({ data, contexts, isCordoned, clock, ...deps }: NodeDrain): Promise<void> {
	const { nodes = [], deletes = false, dryRun = false, timeoutMs = 0, orderBy } = data;
	const targets = nodes.map((path) => {
		const [clusterId = "", name = ""] = path.split("/");
		const context = contexts.get(clusterId);
		if (!context) throw new Error(`no cluster ${clusterId}`);
		return { context, name, uid: name, unschedulable: isCordoned(clusterId, name) };
	});
	const order = orderBy === undefined ? drainOptions.order : ({ kind: "label", key: orderBy } as const);
	const options = { ...drainOptions, deletes, timeoutMs, order, dryRun: dryRun ? "server" : "none" } as const;
	await drain(targets, options, {
		...deps,
		wallClock: () => clock.wallSeconds() * 1_000,
		now: () => clock.now(),
		leaveAgent: () => undefined,
		agentNamespaces: () => [],
	});
}
