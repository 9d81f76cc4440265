// The controllers that a Lease remembers longer than the reservations of their pods: with one replica a cluster, the pod
// just evicted would otherwise take its expected pod along until its controller makes the next one.
//
// They are remembered by group, kind and name, whoever has the name now: a workload that is deleted and made anew between
// two rounds is still expected. Only those that can say how many pods they want: a Job adds nothing to what is expected,
// and a Lease that remembered each run of one would be full of them.
import type { ControllerReference } from "./pod.ts";

/** Equal for two references to whoever has this name, in whichever version and of whichever uid. */
export function controllerKey({ apiVersion, kind, name }: Omit<ControllerReference, "uid">): string {
	return `${groupOf(apiVersion)}/${kind}/${name}`;
}

/** "" is the group of `v1`. */
export function groupOf(apiVersion: string): string {
	return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** Adds those of granted pods, each once: the latest reference to a name stays. */
export function rememberControllers(
	remembered: readonly ControllerReference[],
	granted: readonly (ControllerReference | undefined)[],
): readonly ControllerReference[] {
	const byKey = new Map<string, ControllerReference>();
	for (const controller of [...remembered, ...granted]) {
		if (controller && mayHaveScale(controller)) byKey.set(controllerKey(controller), controller);
	}
	return [...byKey.values()];
}

/** Whether a kind of Kubernetes itself says how many pods it wants; kinds of others may or may not. */
function mayHaveScale({ apiVersion, kind }: ControllerReference): boolean {
	switch (groupOf(apiVersion)) {
		case "":
			return kind === "ReplicationController";
		case "batch":
			return false;
		default:
			return true;
	}
}
