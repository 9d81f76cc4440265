// Builds a minimal pod in the types of the Kubernetes client.
import type { V1Pod } from "@kubernetes/client-node";

export interface PodFields {
	readonly namespace?: string;
	readonly labels?: Record<string, string>;
	readonly annotations?: Record<string, string>;
	readonly owner?: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
	readonly phase?: string;
	/** Without it, the pod has no Ready condition. */
	readonly ready?: boolean;
	readonly emptyDir?: boolean;
	readonly deletedAt?: string;
	readonly node?: string;
	readonly priority?: number;
}

export function newV1Pod(name: string, fields: PodFields = {}): V1Pod {
	const {
		namespace = "default",
		labels = {},
		annotations = {},
		owner,
		phase = "Running",
		ready,
		emptyDir,
		deletedAt,
		node,
		priority,
	} = fields;
	return {
		metadata: {
			name,
			namespace,
			uid: `uid-${name}`,
			resourceVersion: "1",
			labels,
			annotations,
			...(deletedAt !== undefined && { deletionTimestamp: new Date(deletedAt) }),
			...(owner && {
				ownerReferences: [{ apiVersion: "apps/v1", uid: `uid-${owner.name}`, controller: true, ...owner }],
			}),
		},
		spec: {
			containers: [{ name: "main", image: "example.com/main:1" }],
			...(node !== undefined && { nodeName: node }),
			...(priority !== undefined && { priority }),
			...(emptyDir === true && { volumes: [{ name: "scratch", emptyDir: {} }] }),
		},
		status: {
			phase,
			...(ready !== undefined && { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] }),
		},
	};
}
