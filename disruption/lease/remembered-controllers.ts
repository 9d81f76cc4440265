// Remembers controllers in a Lease, longer than the reservations of their pods. Otherwise a budget would expect no pod of a controller whose
// only pod was evicted, until the controller makes the next one.
//
// Controllers of Kubernetes' own kinds are also found by their pod templates (agent/leases/matching-workloads.ts). For other kinds, an
// agent knows only the pods that it sees, so it remembers their controllers from the first count that sees one of these pods.
//
// Controllers are remembered by group, kind and name, but not by uid. So a workload that is deleted and created again between two rounds is
// still expected. Kinds without a scale are left out: a Job adds nothing to the number of expected pods, and its runs would fill the Lease.
import type { ControllerReference } from "../budget/pod.ts";

/** References with the same group, kind and name have the same key, whatever their versions and uids. */
export function controllerKey({ apiVersion, kind, name }: Omit<ControllerReference, "uid">): string {
	return `${groupOf(apiVersion)}/${kind}/${name}`;
}

/** Returns "" for `v1`. */
export function groupOf(apiVersion: string): string {
	return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/**
 * The limit, in bytes, for controllers of custom kinds in one Lease: a quarter of its annotations, about 600 names. A user who may create
 * custom resources can create any number of them, and reservations need room too.
 */
export const maxRememberedBytes = 65_536;

/**
 * Adds controllers that a count saw, or whose pods were granted. Keeps each name once, with its latest reference. Adds no controller of a
 * custom kind once these use maxRememberedBytes (see isMemoryFull).
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

/** Whether some controllers may be missing. If so, the number of expected pods is unknown until there is room. */
export function isMemoryFull(remembered: readonly ControllerReference[]): boolean {
	return rememberedBytes(remembered) >= maxRememberedBytes;
}

/** Counts only controllers of custom kinds, in bytes as a Lease stores them. */
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

/** Whether the kind may say how many pods it wants. */
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
