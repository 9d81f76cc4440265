// Collects garbage: deletes objects whose owners are all gone, and finishes foreground deletions.
import { type ApiObject, keyOf } from "../api-object.ts";
import { type ControllerHost, controllerName } from "./controller.ts";

/** The kinds that own others here, or are owned. An object of any kind may be deleted in the foreground. */
const kinds = [
	"pods",
	"replicasets.apps",
	"statefulsets.apps",
	"deployments.apps",
	"daemonsets.apps",
	"jobs.batch",
	"replicationcontrollers",
];

export function runGarbageCollector(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("generic-garbage-collector"));
	/** Includes the kinds of CustomResourceDefinitions, each once although several versions may be served. */
	const allKinds = (): readonly string[] => [...new Set(host.core.types.map(({ key }) => key))];
	const alive = (uid: string): boolean =>
		allKinds().some((key) => store.list(key).some(({ metadata }) => metadata.uid === uid));

	const isOrphan = ({ metadata }: ApiObject): boolean =>
		metadata.deletionTimestamp === undefined &&
		(metadata.ownerReferences ?? []).length > 0 &&
		(metadata.ownerReferences ?? []).every(({ uid }) => !alive(uid));

	host.reconcile({
		resources: kinds,
		keysOf: ({ type, object }) => (type === "DELETED" ? [keyOf(object)] : []),
		look() {
			for (const resource of kinds) {
				for (const object of store.list(resource).filter(isOrphan)) client.remove(resource, object);
			}
			releaseForeground();
		},
	});
	host.reconcile({
		resources: "all",
		keysOf: ({ type, object }) => (type !== "DELETED" && isForeground(object) ? [keyOf(object)] : []),
		look: releaseForeground,
	});

	/** Deletes the dependents of owners that are deleted in the foreground, and then removes the owners' finalizer. */
	function releaseForeground(): void {
		for (const resource of allKinds()) {
			for (const owner of store.list(resource).filter(isForeground)) {
				const dependents = kinds.flatMap((key) =>
					store
						.list(key)
						.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid))
						.map((object) => ({ key, object })),
				);
				for (const { key, object } of dependents) {
					if (object.metadata.deletionTimestamp === undefined) client.remove(key, object);
				}
				if (dependents.length > 0) continue;
				const finalizers = (owner.metadata.finalizers ?? []).filter((name) => name !== "foregroundDeletion");
				client.update(resource, { ...owner, metadata: { ...owner.metadata, finalizers } });
			}
		}
	}
}

function isForeground({ metadata }: ApiObject): boolean {
	return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes("foregroundDeletion");
}
