// Says in words how far an agent's view of its pods is, for its readiness, its log and its errors.
import type { ListProgress } from "../kubernetes/watch.ts";
import type { PodView } from "./pod-view.ts";

interface ProgressSources {
	readonly pods: Pick<PodView, "live">;
	/** Whether a list of each kind is stored that counts cannot do without. */
	readonly synced: boolean;
	/** The list of pods that is being read. */
	readonly podList: ListProgress | undefined;
}

/**
 * Returns why the agent can serve no caller; undefined if it can. An agent whose watch is dead can, because it counts from lists, unless it
 * has no connection to its API server either.
 */
export function whyNotReady(
	views: ProgressSources,
	{ connected }: { readonly connected: boolean },
): string | undefined {
	if (!views.synced) return loading(views) ?? "The first lists of pods, Leases and budgets are not done";
	if (views.pods.live || connected) return undefined;
	return "There is no connection to the API server, and the watch on pods shows no sign of life";
}

/** Returns why counts are slow now; undefined if the view is not the reason. Fits after a colon. */
export function whySlow({ pods, podList }: Pick<ProgressSources, "pods" | "podList">): string | undefined {
	if (pods.live || !podList) return undefined;
	return `its watch on pods broke, and ${progress(podList)} are read again after ${seconds(podList.forMs)}`;
}

function loading({ podList }: Pick<ProgressSources, "podList">): string | undefined {
	return podList && `The list of all pods is being read: ${progress(podList)} after ${seconds(podList.forMs)}`;
}

function progress({ objects }: ListProgress): string {
	return `${objects.toLocaleString("en-US")} pods`;
}

function seconds(ms: number): string {
	return `${Math.round(ms / 1000)} s`;
}
