// Wraps an API so that its writes of Leases and its lists of pods record how far the server has come, as calls over a real connection do.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import type { SeenVersions } from "../../agent/kubernetes/seen-versions.ts";

export function withSeenVersions(api: ClusterApi, versions: SeenVersions): ClusterApi {
	return {
		...api,
		async createLease(lease) {
			const mark = versions.mark("leases");
			const created = await api.createLease(lease);
			versions.answered(mark, created.resourceVersion);
			return created;
		},
		async updateLease(lease) {
			const mark = versions.mark("leases");
			const written = await api.updateLease(lease);
			// A write without changes keeps the version and says nothing about the server's progress.
			if (written.resourceVersion !== lease.resourceVersion) versions.answered(mark, written.resourceVersion);
			return written;
		},
		async touchPod(pod, value) {
			const mark = versions.mark("pods");
			const touched = await api.touchPod(pod, value);
			if (touched.kind === "touched") versions.answered(mark, touched.resourceVersion);
			return touched;
		},
		async listSelectedPods(namespace, selector) {
			const mark = versions.mark("pods");
			const list = await api.listSelectedPods(namespace, selector);
			versions.answered(mark, list.resourceVersion);
			return list;
		},
	};
}
