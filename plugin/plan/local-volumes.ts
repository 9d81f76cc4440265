// Finds the volumes that bind pods to nodes: PersistentVolumes with a node affinity and a bound claim.
import type { V1PersistentVolume, V1PersistentVolumeClaim, V1Pod } from "@kubernetes/client-node";
import { ApiError, errorText } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { LocalVolume } from "./placement.ts";

export interface LocalVolumes {
	/** Volumes that the pod's replacement needs too. */
	of(pod: V1Pod): readonly LocalVolume[];
	/** What could not be read, so volumes may be missing. */
	readonly problems: readonly string[];
}

/** An API error, for example a missing permission, becomes a problem. */
export async function readLocalVolumes({ name, client }: KubeContext, pods: readonly V1Pod[]): Promise<LocalVolumes> {
	const withClaims = pods.filter((pod) => claimsOf(pod).length > 0);
	if (withClaims.length === 0) return { of: () => [], problems: [] };
	const namespaces = new Set(withClaims.map(({ metadata }) => metadata?.namespace ?? ""));
	try {
		const [volumes, ...claims] = await Promise.all([
			client.list<V1PersistentVolume>("/api/v1/persistentvolumes"),
			...[...namespaces].map((namespace) =>
				client.list<V1PersistentVolumeClaim>(
					`/api/v1/namespaces/${encodeURIComponent(namespace)}/persistentvolumeclaims`,
				),
			),
		]);
		const byName = new Map(volumes.map((volume) => [volume.metadata?.name, volume]));
		const byClaim = new Map(
			claims.flat().map((claim) => [claimKey(claim.metadata?.namespace, claim.metadata?.name), claim]),
		);
		return {
			of: (pod) =>
				claimsOf(pod).flatMap((claim) => {
					const bound = byClaim.get(claimKey(pod.metadata?.namespace, claim))?.spec?.volumeName;
					const required = byName.get(bound)?.spec?.nodeAffinity?.required;
					return bound !== undefined && required ? [{ claim, volume: bound, required }] : [];
				}),
			problems: [],
		};
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const problem = `${name}: whether volumes tie pods to their nodes is not known: ${errorText(error)}`;
		return { of: () => [], problems: [problem] };
	}
}

/** Leaves out ephemeral volumes, because they are deleted with the pod. */
function claimsOf({ spec }: V1Pod): readonly string[] {
	return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

function claimKey(namespace = "", name = ""): string {
	return `${namespace}/${name}`;
}
