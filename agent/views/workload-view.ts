// Keeps workloads in memory, from one watch on each of Kubernetes' own workload kinds, over all namespaces. It watches whole objects,
// because metadata alone has no pod template, and keeps only a small part of each. A count uses these watches in a namespace only if a
// recent comparison with consistent lists of that namespace found no difference (watch-comparison.ts).
import { listWorkloadVersions, workloadsIn } from "../cluster-api/workload-calls.ts";
import type { ControllerName } from "../cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../cluster-api/scale-answer.ts";
import {
	createWorkloadProjection,
	findWorkloadKind,
	type WorkloadRecord,
	workloadKinds,
} from "../cluster-api/workload-record.ts";
import { createApiAsker } from "../kubernetes/api-asker.ts";
import { startWatch } from "../kubernetes/watch.ts";
import { NamespaceComparisons } from "./namespace-comparisons.ts";
import { ObjectStore, type ViewOptions } from "./object-views.ts";
import { WatchComparison } from "./watch-comparison.ts";

export interface WorkloadView {
	/** Whether the watches are alive, and the last successful comparisons of this namespace with consistent lists began in the last 5 s. */
	isProven(namespace: string): boolean;
	/**
	 * Compares the namespace for a while, because a caller that counts there will probably count again soon. Does nothing if too many other
	 * namespaces are compared.
	 */
	wanted(namespace: string): void;
	workloads(namespace: string): Iterable<WorkloadRecord>;
	/** Returns the scale that a live watch shows, for people: it may be older than the last comparison. Undefined if it shows none. */
	shownScale(controller: ControllerName, namespace: string): ScaleAnswer | undefined;
}

export function createWorkloadView(
	options: Omit<ViewOptions, "warn"> & {
		readonly warn: (resource: string, message: string) => void;
		readonly report: (problem: unknown) => void;
	},
): { readonly view: WorkloadView; readonly close: () => void } {
	const { connection, clock, report } = options;
	const asker = createApiAsker(connection);
	const watched = workloadKinds.map((kind) => {
		const { plural } = kind;
		const store = new ObjectStore<WorkloadRecord>({
			clock,
			keyOf: ({ namespace, name }) => `${namespace}/${name}`,
			namespaceOf: ({ namespace }) => namespace,
		});
		const warn = (message: string): void => options.warn(plural, message);
		const project = createWorkloadProjection(kind);
		const watch = startWatch({ ...options, warn, resource: workloadsIn(kind), project, sink: store });
		const compare = (namespace: string): WatchComparison<WorkloadRecord> =>
			new WatchComparison({
				store,
				clock,
				report,
				list: () => listWorkloadVersions(asker, kind, namespace),
				isListed: (object) => object.namespace === namespace,
				versionOf: ({ resourceVersion }) => resourceVersion,
				onDifferent: ([first, ...others]) => {
					const more = others.length > 0 ? ` and ${others.length} more` : "";
					warn(
						`the watch on ${plural} of cluster "${connection.cluster}" and a list differ in ${first}${more}: opening the watch again`,
					);
					watch.restart();
				},
			});
		return { store, watch, compare };
	});
	const comparisons = new NamespaceComparisons((namespace) => watched.map(({ compare }) => compare(namespace)));
	return {
		view: workloadViewOf(
			watched.map(({ store }) => store),
			comparisons,
		),
		close() {
			comparisons.close();
			for (const { watch } of watched) watch.close();
		},
	};
}

export function workloadViewOf(
	stores: readonly ObjectStore<WorkloadRecord>[],
	comparisons: Pick<NamespaceComparisons, "isRecent" | "wanted">,
): WorkloadView {
	return {
		isProven: (namespace) => stores.every((store) => store.live) && comparisons.isRecent(namespace),
		wanted: (namespace) => comparisons.wanted(namespace),
		*workloads(namespace) {
			for (const store of stores) yield* store.inNamespace(namespace);
		},
		shownScale(controller, namespace) {
			const kind = findWorkloadKind(controller)?.kind;
			for (const store of kind === undefined ? [] : stores) {
				const found = store.live ? store.get(`${namespace}/${controller.name}`) : undefined;
				if (found && found.kind === kind) return found.scale;
			}
			return undefined;
		},
	};
}
