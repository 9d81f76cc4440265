// Ends a reservation before there is evidence: the fence.
//
// Guarantee: after a reservation was removed here, no eviction that was sent under it can hit the pod that was granted.
// (1) Mark the reservation, by id: every confirmation from now on answers no.
// (2) Touch the pod: every eviction that was confirmed before the mark names an older version and gets a 409.
// (3) Read the pod. If it is alive, remove the reservation, provided that it is still marked. If the pod is terminating, finished or
// replaced, remove the reservation with the version read as `observed`. A 404 has no version, so the view (or a list) must end that
// reservation.
//
// An agent that resumes another agent's cancel starts with a touch of its own. Two cancels at the same time are harmless: each removes only
// the ids that it was asked for, and ids are never reused.
//
// Assumption: the API server honours resourceVersion preconditions, and a touch with a new value makes a new version.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { marked, withoutReservations } from "../../disruption/lease/lease.ts";
import type { Reservation } from "../../disruption/lease/reservation.ts";
import { latestResourceVersion } from "../../disruption/resource-version.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { LeaseStore } from "./lease-store.ts";

interface CancellationOptions {
	readonly api: ClusterApi;
	readonly leases: LeaseStore;
	/** Returns a value that was never used before. */
	readonly newId: () => string;
	/** The cluster's name, for messages. */
	readonly cluster: string;
}

/** Takes back reservations under which no eviction was or will be sent. */
export async function takeBack(budget: BudgetName, ids: ReadonlySet<string>, leases: LeaseStore): Promise<void> {
	await leases.changeExisting(budget, (lease) =>
		lease.state.reservations.some(({ id }) => ids.has(id))
			? { write: withoutReservations(lease, ids), result: undefined }
			: { result: undefined },
	);
}

/** Cancels reservations whose eviction may have been sent, or whose holder is silent. */
export async function cancel(
	budget: BudgetName,
	ids: ReadonlySet<string>,
	options: CancellationOptions,
): Promise<void> {
	const { leases } = options;
	const { lease } = await leases.changeExisting(budget, (found) =>
		found.state.reservations.some(({ id, cancelling }) => ids.has(id) && !cancelling)
			? { write: marked(found, ids), result: undefined }
			: { result: undefined },
	);
	const reservations = lease?.state.reservations.filter(({ id }) => ids.has(id)) ?? [];
	const results = await Promise.allSettled(reservations.map((each) => fenceOff(budget, each, options)));
	// All fenced reservations share one write. A pod that could not be read does not delay the others.
	const fenced = results.flatMap((result) => (result.status === "fulfilled" && result.value ? [result.value] : []));
	if (fenced.length > 0)
		await leases.changeExisting(budget, (found) => {
			const standing = new Set(found.state.reservations.filter(({ cancelling }) => cancelling).map(({ id }) => id));
			const ended = fenced.filter(({ id }) => standing.has(id));
			if (ended.length === 0) return { result: undefined };
			const observed = latestResourceVersion(...ended.map((each) => each.observed));
			return { write: withoutReservations(found, new Set(ended.map(({ id }) => id)), observed), result: undefined };
		});
	const failed = results.find((result) => result.status === "rejected");
	if (failed) throw failed.reason;
}

/**
 * Touches and reads the pod of a marked reservation. Returns the id of the reservation, which may be removed now, and the version that
 * becomes `observed` ("" if the pod is alive). Undefined if the pod does not exist.
 */
async function fenceOff(
	budget: BudgetName,
	{ id, name, uid }: Reservation,
	options: CancellationOptions,
): Promise<{ readonly id: string; readonly observed: string } | undefined> {
	const pod = { namespace: budget.namespace, name, uid };
	await touch(pod, options);
	const found = await options.api.getPod(pod);
	if (found.kind === "gone") return undefined;
	const alive = found.pod.uid === uid && !found.pod.terminating && !found.pod.finished;
	return { id, observed: alive ? "" : found.pod.resourceVersion };
}

async function touch(
	pod: { readonly namespace: string; readonly name: string; readonly uid: string },
	{ api, newId, cluster }: CancellationOptions,
): Promise<void> {
	const before = await api.getPod(pod);
	if (before.kind === "gone" || before.pod.uid !== pod.uid) return;
	const touched = await api.touchPod(pod, newId());
	if (touched.kind === "touched" && touched.resourceVersion === before.pod.resourceVersion) {
		throw new AgentUnavailableError(
			`cannot cancel the reservation of pod "${pod.namespace}/${pod.name}" in cluster "${cluster}": touching it changed nothing`,
			cluster,
		);
	}
}
