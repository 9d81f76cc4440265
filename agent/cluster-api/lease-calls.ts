// Reads and writes the agents' Leases through the API server. Each update and deletion names the version that was read.
import { namespaceLabel } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { ApiAsker, AskOptions } from "../kubernetes/api-asker.ts";
import { isMissingObject, statusMessage } from "../kubernetes/api-refusal.ts";
import { listPage } from "../kubernetes/kubernetes-objects.ts";
import { type ClusterApi, ConflictError } from "./cluster-api.ts";
import { readLease } from "./read-lease.ts";

export const leasesPath = (namespace: string): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

export function createLeaseCalls(
	asker: ApiAsker,
	namespace: string,
): Pick<ClusterApi, "getLease" | "createLease" | "updateLease" | "deleteLease" | "listLeases"> {
	const { cluster, versions } = asker.connection;
	const path = leasesPath(namespace);
	const question = (verb: string, name: string) => ({
		what: `${verb} Lease "${namespace}/${name}"`,
		verb,
		resource: "leases",
		group: "coordination.k8s.io",
		namespace,
	});
	const conflict = (what: string, why: string) => new ConflictError(`cannot ${what} in cluster "${cluster}": ${why}`);
	return {
		async getLease(name) {
			const options: AskOptions = { method: "GET", path: `${path}/${name}`, ...question("get", name) };
			const answer = await asker.ask(options, 404);
			if (isMissingObject(answer, name)) return undefined;
			if (answer.status === 404) throw asker.refusal(answer, options);
			return readLease(answer.body, cluster);
		},
		async createLease(lease) {
			const mark = versions.mark("leases");
			const options: AskOptions = {
				method: "POST",
				path,
				body: leaseBody({ ...lease, namespace }),
				...question("create", lease.name),
			};
			const answer = await asker.ask(options, 409);
			if (answer.status === 409) throw conflict(options.what, statusMessage(answer));
			const created = readLease(answer.body, cluster);
			versions.answered(mark, created.resourceVersion);
			return created;
		},
		async updateLease(lease) {
			const mark = versions.mark("leases");
			const options: AskOptions = {
				method: "PUT",
				path: `${path}/${lease.name}`,
				body: leaseBody({ ...lease, namespace, managedFields: untracked }),
				...question("update", lease.name),
			};
			const answer = await asker.ask(options, 404, 409);
			if (answer.status === 409 || isMissingObject(answer, lease.name)) {
				throw conflict(options.what, statusMessage(answer));
			}
			if (answer.status === 404) throw asker.refusal(answer, options);
			const written = readLease(answer.body, cluster);
			// A write without changes keeps the version.
			if (written.resourceVersion !== lease.resourceVersion) versions.answered(mark, written.resourceVersion);
			return written;
		},
		async deleteLease(lease) {
			const { uid, resourceVersion } = lease;
			const options: AskOptions = {
				method: "DELETE",
				path: `${path}/${lease.name}`,
				body: { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid, resourceVersion } },
				...question("delete", lease.name),
			};
			const answer = await asker.ask(options, 404, 409);
			if (answer.status === 409 || isMissingObject(answer, lease.name)) {
				throw conflict(options.what, statusMessage(answer));
			}
			if (answer.status === 404) throw asker.refusal(answer, options);
		},
		async listLeases({ budgetNamespace, notOlderThan }) {
			// The API server answers a list with a version from its cache immediately. A consistent list waits until the cache knows that
			// no other Lease was written since, which it learns only every 100 ms.
			const fresh =
				notOlderThan === ""
					? ""
					: `&resourceVersionMatch=NotOlderThan&resourceVersion=${encodeURIComponent(notOlderThan)}`;
			const options: AskOptions = {
				...question("list", ""),
				method: "GET",
				path: `${path}?labelSelector=${encodeURIComponent(`${namespaceLabel}=${budgetNamespace}`)}${fresh}`,
				what: `list Leases of namespace "${budgetNamespace}"`,
			};
			const answer = await asker.ask(options);
			const { items, resourceVersion } = asker.read(options, () => listPage(answer.body));
			versions.saw("leases", resourceVersion);
			return items.map((item) => readLease(item, cluster));
		},
	};
}

/**
 * Clears managedFields, and keeps later writes from recording any. These Leases are never applied, and comparing fields took a third of the
 * API server's time for a write.
 */
const untracked = [{}] as const;

interface LeaseBody
	extends Omit<LeaseObject, "uid" | "resourceVersion">,
		Partial<Pick<LeaseObject, "uid" | "resourceVersion">> {
	readonly namespace: string;
	readonly managedFields?: typeof untracked;
}

function leaseBody({
	name,
	namespace,
	uid,
	resourceVersion,
	labels,
	annotations,
	managedFields,
	spec,
}: LeaseBody): object {
	return {
		apiVersion: "coordination.k8s.io/v1",
		kind: "Lease",
		metadata: {
			name,
			namespace,
			...(uid !== undefined && { uid }),
			...(resourceVersion !== undefined && { resourceVersion }),
			labels,
			annotations,
			...(managedFields && { managedFields }),
		},
		spec,
	};
}
