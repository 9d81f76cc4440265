// Finds out which version a view must have reached to show everything up to a moment, without a list: the agent touches its own pod, and
// the watch on pods shows that change after all earlier ones.
//
// Guarantee: a view at the version that mark() resolves with shows every change of a pod that the API server made before mark() was called.
// - The touch is sent after the call. A touch under way is not joined, because it may have been made earlier.
// - Each touch has a value that was never used before, and its answer must show that value. A write that changes nothing keeps the version.
// - If the answer names a version that was seen before the touch was sent, etcd was restored from a backup. All views are dropped then
//   (pod-calls.ts).
// Undefined if there is no such version: while the watch is dead, if the agent's own pod is not known, if the API server does not accept
// the touch, or if the answer takes long. The caller then needs a list.
import { randomUUID } from "node:crypto";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { Clock } from "../process/clock.ts";
import { withinTime } from "../process/within-time.ts";
import type { PodView } from "./pod-view.ts";

/** A list of many pods takes as long. */
const longestTouchMs = 500;

interface ViewMarkerOptions {
	readonly api: Pick<ClusterApi, "touchPod">;
	readonly pods: Pick<PodView, "live" | "findByName">;
	/** The pod that this agent runs in. */
	readonly ownPod: { readonly namespace: string; readonly name: string };
	readonly clock: Pick<Clock, "after">;
	/** The cluster's name, for messages. */
	readonly cluster: string;
	readonly newId?: (() => string) | undefined;
	readonly report?: ((problem: unknown) => void) | undefined;
}

export class ViewMarker {
	readonly #options: ViewMarkerOptions;
	#marking: Promise<unknown> = Promise.resolve();
	#next: Promise<string | undefined> | undefined;

	constructor(options: ViewMarkerOptions) {
		this.#options = options;
	}

	/** All callers until the touch is sent share it. */
	mark(): Promise<string | undefined> {
		this.#next ??= this.#startAfter(this.#marking);
		return this.#next;
	}

	async #startAfter(marking: Promise<unknown>): Promise<string | undefined> {
		await marking;
		this.#next = undefined;
		const next = this.#mark();
		this.#marking = next;
		return next;
	}

	async #mark(): Promise<string | undefined> {
		const { api, pods, ownPod, clock, cluster, newId = randomUUID, report } = this.#options;
		const own = pods.live ? pods.findByName(ownPod.namespace, ownPod.name) : undefined;
		if (!own) return undefined;
		const late = (): Error =>
			new AgentUnavailableError(
				`touching pod "${own.namespace}/${own.name}" in cluster "${cluster}" took more than ${longestTouchMs} ms: listing pods instead`,
				cluster,
			);
		try {
			const touched = await withinTime(api.touchPod(own, newId()), { clock, ms: longestTouchMs, late });
			if (touched.kind === "gone" || compareResourceVersions(touched.resourceVersion, own.resourceVersion) <= 0)
				return undefined;
			return touched.resourceVersion;
		} catch (error) {
			report?.(error);
			return undefined;
		}
	}
}
