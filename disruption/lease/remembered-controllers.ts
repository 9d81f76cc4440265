// The controllers that a Lease remembers longer than the reservations of their pods: with one replica a cluster, the pod
// just evicted would otherwise take its expected pod along until its controller makes the next one.
//
// Controllers of Kubernetes' own kinds are also found by their pod templates (agent/leases/matching-workloads.ts). Of other
// kinds, an agent knows only the pods that it sees, so it remembers a controller from the first count that sees one of its
// pods.
//
// They are remembered by group, kind and name, whoever has the name now: a workload that is deleted and made anew between
// two rounds is still expected. Only those that can say how many pods they want: a Job adds nothing to what is expected,
// and a Lease that remembered each run of one would be full of them.
import type { ControllerReference } from "../budget/pod.ts";

/** Equal for two references to whoever has this name, in whichever version and of whichever uid. */
export function controllerKey({ apiVersion, kind, name }: Omit<ControllerReference, "uid">): string {
	return `${groupOf(apiVersion)}/${kind}/${name}`;
}

/** "" is the group of `v1`. */
export function groupOf(apiVersion: string): string {
	return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/**
 * How much of a Lease controllers of kinds other than Kubernetes' own may take: a quarter of its annotations, some 600
 * names. Anyone who may create custom resources can make any number of them, and reservations need room too.
 */
export const maxRememberedBytes = 65_536;

/**
 * Adds the controllers that a count saw, or whose pods were granted, each once: the latest reference to a name stays. Beyond
 * maxRememberedBytes it adds no controllers of kinds other than Kubernetes' own: see isMemoryFull.
 */
export function rememberControllers(
	remembered: readonly ControllerReference[],
	seen: readonly (ControllerReference | undefined)[],
): readonly ControllerReference[] {
	const byKey = new Map<string, ControllerReference>();
	for (const controller of remembered) if (mayHaveScale(controller)) byKey.set(controllerKey(controller), controller);
	let bytes = rememberedBytes(byKey.values());
	for (const controller of seen) {
		if (!controller || !mayHaveScale(controller)) continue;
		const key = controllerKey(controller);
		if (!byKey.has(key)) {
			const more = rememberedBytes([controller]);
			if (more > 0 && bytes >= maxRememberedBytes) continue;
			bytes += more;
		}
		byKey.set(key, controller);
	}
	return [...byKey.values()];
}

/** Some controllers may be missing: until there is room, the number of expected pods is unknown. */
export function isMemoryFull(remembered: readonly ControllerReference[]): boolean {
	return rememberedBytes(remembered) >= maxRememberedBytes;
}

/** Of kinds other than Kubernetes' own, as a Lease stores them. */
function rememberedBytes(controllers: Iterable<ControllerReference>): number {
	let bytes = 0;
	for (const { apiVersion, kind, name, uid } of controllers) {
		if (!isBuiltIn(apiVersion))
			bytes += new TextEncoder().encode(JSON.stringify([apiVersion, kind, name, uid])).length + 1;
	}
	return bytes;
}

function isBuiltIn(apiVersion: string): boolean {
	return ["", "apps"].includes(groupOf(apiVersion));
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
