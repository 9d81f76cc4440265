// Counts one cluster's pods for a budget.
//
// Guarantee, for a count under an acquisition (not a look): it is taken after the acquisition was written. An optimistic hold is not
// written, so its commit counts again after its own write (hasEnoughHealthyPods), and does not stand if fewer pods are healthy.
// A pod that is reserved in any Lease of the budget's namespace does not count as healthy, even if the reservation is marked. These Leases
// are at least as new as the budget's own Lease. The count comes from a view that has reached the highest `observed` of them, or from a
// consistent list that began after they were read (pods-to-count.ts). So it includes all evidence on which an agent ended a reservation of
// these Leases. A Lease that has no `observed` yet gets the version of this view or list.
// An `observed` may be above such a list. Then it is from before etcd was restored from a backup, and says nothing about the pods that
// exist now. The count ignores it, and in the budget's own Lease the version of that list replaces it.
// If anything cannot be read, the count rejects, or reports the number of expected pods as unknown. Nothing is guessed, and nothing has a
// default.
import {
	type AcquireRequest,
	type CandidateState,
	type Count,
	type LookRequest,
	type MemberBudget,
	mostUnavailableTold,
	type PodReference,
	type UnavailablePod,
} from "../../disruption/budget/cluster.ts";
import { type BudgetName, formatBudgetName, supportedFeatures } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { type BudgetLease, parseLease } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { isCountedHealthy } from "../../disruption/budget/healthy.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { Reservation } from "../../disruption/lease/reservation.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { ClusterApi, ControllerName } from "../cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../cluster-api/scale-answer.ts";
import type { BudgetView } from "../views/object-views.ts";
import type { PodView } from "../views/pod-view.ts";
import type { ViewMarker } from "../views/view-marker.ts";
import type { WorkloadView } from "../views/workload-view.ts";
import { type ExpectedScale, expectedPods, whyUnexpected } from "./expected-pods.ts";
import type { GrantMemory } from "./grant-memory.ts";
import type { OptimisticHold } from "./optimistic-holds.ts";
import { type MatchingWorkloads, matchingWorkloads, shownWorkloads } from "./matching-workloads.ts";
import { mislabelledWorkloads } from "./mislabelled.ts";
import { listPods, observedBy, type PodsToCount, podsToCount, podsToLookAt } from "./pods-to-count.ts";
import type { ReplicaSetOwners } from "./replica-set-owners.ts";

export interface CountOptions {
	readonly api: ClusterApi;
	readonly pods: PodView;
	readonly budgets: BudgetView;
	/** If left out, new Leases are counted from lists. */
	readonly marker?: Pick<ViewMarker, "mark"> | undefined;
	/** If left out, each count lists workloads. */
	readonly workloads?: WorkloadView | undefined;
	/** Knows who was granted which pod, for people. If left out, accounts are unknown, and so are holders whose reservations have ended. */
	readonly grants?: Pick<GrantMemory, "find"> | undefined;
	/** If left out, each count requests the owner of every ReplicaSet. */
	readonly replicaSets?: ReplicaSetOwners | undefined;
	/** The cluster's name, for messages. */
	readonly cluster: string;
	/** Returns why counts are slow now, if it is known. */
	readonly whySlow?: (() => string | undefined) | undefined;
	/** Called with errors that do not reach a caller. */
	readonly report?: ((problem: unknown) => void) | undefined;
}

/** A count, with its findings for the next write of the Lease and for the commit. */
export interface CountResult {
	readonly count: Count;
	/** Where the pods come from. */
	readonly from: PodsToCount["from"];
	/** The version that becomes the Lease's `observed`, because it has none. Otherwise "". */
	readonly observed: string;
	/** Keys of remembered controllers that no longer exist. */
	readonly forgottenControllers: ReadonlySet<string>;
	/** Controllers that the Lease must remember before the count is used. */
	readonly newControllers: readonly ControllerReference[];
	/** Set if the Lease's `observed` is from before a restore: the Lease's version, and the version of a list that began after it was read. */
	readonly restored?: { readonly leaseVersion: string; readonly listedAt: string };
	/** The owners of the counted pods and of the candidates, so that the commit need not request them. */
	readonly owners: ExpectedScale["owners"];
}

/** How long the second count of an optimistic hold waits for the view. */
const recountWaitMs = 1_000;

export type CountQuestion = Pick<AcquireRequest, "budget" | "selector" | "candidates">;

/**
 * `reading` is the Lease as the acquisition wrote it, or as it was read since. For an optimistic hold, it is the Lease as this agent knows
 * it.
 */
export async function countUnder(
	reading: Promise<BudgetLease>,
	question: CountQuestion,
	options: CountOptions,
): Promise<CountResult> {
	const { api, beginScales } = withEarlyScales(question, options);
	const readLeases = async (): Promise<{ readonly all: Leases; readonly pods: PodsToCount }> => {
		const lease = await reading;
		beginScales(lease.state.controllers);
		const asked = { budgetNamespace: question.budget.namespace, notOlderThan: lease.resourceVersion };
		const all = withOthers(lease, await api.listLeases(asked), options);
		return { all, pods: await podsToCount(question, all, { ...options, api }) };
	};
	const [{ all, pods: chosen }, { members }, budgets, matching] = await Promise.all([
		readLeases(),
		api.getFleet(),
		budgetsOf(question.budget, options),
		matchingWorkloads(question.budget.namespace, question.selector, { api, workloads: options.workloads }),
	]);
	const pods = chosen.isUsable() ? chosen : await listPods(question, { api });
	const [lease] = all;
	const { from, version } = pods;
	const lost = from === "view" ? [] : beforeRestore(all, version, options);
	const reservations = new Map<string, Reservation>();
	for (const { state } of all)
		for (const reservation of state.reservations) reservations.set(reservation.uid, reservation);
	const { count, scale } = await countPods(question, { lease, reservations, matching, pods }, { ...options, api });
	return {
		count: { ...count, fleetHash: fleetHash(members.map(({ id }) => id)), budgets },
		from,
		observed: lease.state.observed === "" ? version : "",
		forgottenControllers: scale.forgotten,
		newControllers: scale.unremembered,
		...(lost.includes(lease) && { restored: { leaseVersion: lease.resourceVersion, listedAt: version } }),
		owners: scale.owners,
	};
}

type Leases = readonly [BudgetLease, ...BudgetLease[]];

/**
 * Whether this cluster still has at least as many healthy pods of the budget as were counted for an optimistic hold. Called after the
 * commit of that hold was written. It includes what others wrote to other Leases of the namespace since the count, and what the view has
 * seen since. Candidates that were counted as not healthy are left out: they cost nothing by that count, so one that is ready now must not
 * replace another pod. Also false if the watch is dead, or if the view does not reach what these Leases require.
 * `lease` is the Lease as the commit wrote it. `ids` are the commit's own grants, whose pods do not count as reserved here.
 */
export async function hasEnoughHealthyPods(
	lease: BudgetLease,
	{ counted: { selector, healthy }, unready }: Pick<OptimisticHold, "counted" | "unready">,
	ids: ReadonlySet<string>,
	options: Pick<CountOptions, "api" | "pods" | "cluster">,
): Promise<boolean> {
	const { api, pods } = options;
	const { budget } = lease;
	const question = { budgetNamespace: budget.namespace, notOlderThan: lease.resourceVersion };
	const all = withOthers(lease, await api.listLeases(question), options);
	if (!(await pods.arrives(observedBy(all), recountWaitMs))) return false;
	const reserved = new Set<string>();
	for (const { state } of all) for (const { id, uid } of state.reservations) if (!ids.has(id)) reserved.add(uid);
	let left = 0;
	for (const pod of pods.selected(budget.namespace, selector))
		if (isCountedHealthy(pod, reserved) && !unready.has(pod.uid)) left += 1;
	return left >= healthy;
}

function withOthers(
	lease: BudgetLease,
	leases: readonly LeaseObject[],
	{ cluster }: Pick<CountOptions, "cluster">,
): Leases {
	return [lease, ...leases.map((other) => parseLease(other, cluster)).filter(({ name }) => name !== lease.name)];
}

/** Returns and reports the Leases whose `observed` is above the version of a list that began after they were read. */
function beforeRestore(leases: Leases, listedAt: string, { cluster, report }: CountOptions): readonly BudgetLease[] {
	const lost = leases.filter(({ state }) => compareResourceVersions(state.observed, listedAt) > 0);
	for (const { budget, state } of lost) {
		const what = `Lease of budget "${formatBudgetName(budget)}" in cluster "${cluster}"`;
		report?.(
			new AgentUnavailableError(
				`${what} records pod version ${state.observed}, but its API server lists version ${listedAt} (was etcd restored?): counting from that list`,
				cluster,
			),
		);
	}
	return lost;
}

interface EarlyScales {
	readonly api: ClusterApi;
	readonly beginScales: (controllers: Iterable<ControllerReference>) => void;
}

/**
 * Starts to read the scales that the count will probably need, in parallel with its other reads. The count uses the answers, because these
 * reads began after it did, and reads any other scale when it needs it.
 */
function withEarlyScales(question: CountQuestion, { api, pods, workloads, replicaSets }: CountOptions): EarlyScales {
	const scales = new Map<string, Promise<ScaleAnswer>>();
	const { namespace } = question.budget;
	const getScale = (controller: ControllerName): Promise<ScaleAnswer> => {
		const key = controllerKey(controller);
		const ask = (): Promise<ScaleAnswer> => api.getScale(controller, namespace);
		const scale = scales.get(key) ?? replicaSets?.ask(controller, namespace, ask) ?? ask();
		scales.set(key, scale);
		return scale;
	};
	const beginScales = (controllers: Iterable<ControllerReference>): void => {
		// If the count needs one of these scales, it gets the error there. Errors of the others do not matter.
		for (const controller of controllers) getScale(controller).catch(() => undefined);
	};
	const shown = new Set(shownWorkloads(namespace, question.selector, { workloads }));
	for (const { controller } of pods.selected(namespace, question.selector)) {
		if (controller) shown.add(replicaSets?.find(controller, namespace) ?? controller);
	}
	beginScales(shown);
	return { api: { ...api, getScale }, beginScales };
}

/**
 * Counts without an acquisition, from the view as it is, or from a list of the selected pods if the watch is dead. It is for people, and to see when a round may
 * be worth its cost. It includes only the reservations in this budget's own Lease, and no decision may depend on it.
 */
export async function look(
	reading: Promise<BudgetLease | undefined>,
	question: LookRequest,
	options: CountOptions,
): Promise<Count> {
	const { api } = withEarlyScales(question, options);
	const [lease, { members }, budgets, matching, chosen] = await Promise.all([
		reading,
		api.getFleet(),
		question.thisBudgetAlone === true ? thisBudget(question, options) : budgetsOf(question.budget, options),
		matchingWorkloads(question.budget.namespace, question.selector, options),
		podsToLookAt(question, options),
	]);
	const pods = chosen.isUsable() ? chosen : await listPods(question, { api });
	const reservations = new Map(lease?.state.reservations.map((reservation) => [reservation.uid, reservation]));
	const { count } = await countPods(question, { lease, reservations, matching, pods }, { ...options, api });
	return { ...count, fleetHash: fleetHash(members.map(({ id }) => id)), budgets };
}

/**
 * From this many budgets on, one list replaces single reads. A read costs an API server about as much as a list of ten budgets, but a list
 * may wait for 100 ms.
 */
const listedFrom = 20;

/**
 * Returns the namespace's budgets, by consistent reads that begin after the count did. Their names come from a watch if it is alive and
 * equaled a list that was requested in the last 5 s. Otherwise, and if there are many, the budgets come from one consistent list, which
 * costs up to 100 ms after any write. So a new budget is enforced as soon as its watch event arrives, and within 5 s of its creation.
 */
async function budgetsOf(budget: BudgetName, { api, budgets }: CountOptions): Promise<readonly MemberBudget[]> {
	budgets.wanted();
	if (!budgets.proven) return api.listBudgets(budget.namespace);
	const names = new Map([[formatBudgetName(budget), budget]]);
	for (const { name } of budgets.budgets(budget.namespace)) names.set(formatBudgetName(name), name);
	if (names.size >= listedFrom) return api.listBudgets(budget.namespace);
	const found = await Promise.all([...names.values()].map((name) => api.getBudget(name)));
	return found.filter((member) => member !== undefined);
}

/** Reads only this budget, so that a look at one of 1,000 budgets in a namespace stays cheap. */
async function thisBudget({ budget }: LookRequest, { api, budgets }: CountOptions): Promise<readonly MemberBudget[]> {
	// The next round needs all budgets of the namespace.
	budgets.wanted();
	const found = await api.getBudget(budget);
	return found ? [found] : [];
}

interface CountedWith {
	readonly lease: BudgetLease | undefined;
	readonly reservations: ReadonlyMap<string, Reservation>;
	readonly matching: MatchingWorkloads;
	readonly pods: PodsToCount;
}

async function countPods(
	question: CountQuestion,
	{ lease, reservations, matching, pods }: CountedWith,
	options: CountOptions,
): Promise<{ readonly count: Omit<Count, "fleetHash" | "budgets">; readonly scale: ExpectedScale }> {
	const { api, cluster, replicaSets } = options;
	const { namespace } = question.budget;
	// From here to `everything`, nothing is awaited, so all of it is from one instant of the view.
	const selected: PodRecord[] = [];
	const unavailable: { readonly pod: PodRecord; readonly reservation: Reservation | undefined }[] = [];
	let healthy = 0;
	for (const pod of pods.selected()) {
		selected.push(pod);
		if (isCountedHealthy(pod, reservations)) healthy += 1;
		else if (!pod.finished) unavailable.push({ pod, reservation: reservations.get(pod.uid) });
	}
	const present = question.candidates.map(pods.find);
	const remembered = lease?.state.controllers ?? [];
	// A list of selected pods does not show where the others are, so their controllers stay expected.
	const everything = pods.all && {
		all: remembered.length > 0 ? [...pods.all()] : [],
		selected: new Set(selected.map(({ uid }) => uid)),
		reserved: new Set(reservations.keys()),
	};
	const scale = await expectedPods(api, {
		namespace,
		pods: selected,
		candidates: present.filter((pod) => pod !== undefined),
		remembered,
		matching,
		...(everything && { everything }),
		replicaSets,
	});
	const { matched, owners } = scale;
	const mislabelled = pods.all ? mislabelledWorkloads({ namespace, matched, selected, owners, pods: pods.all }) : [];
	const candidates = await Promise.all(
		question.candidates.map(async (candidate, index) => {
			const state = await candidateState(candidate, present[index], reservations, scale, api);
			const changesEveryMs = options.pods.changesEveryMs(candidate.uid);
			return state.kind === "present" && changesEveryMs !== undefined ? { ...state, changesEveryMs } : state;
		}),
	);
	return {
		count: {
			clusterId: api.clusterId,
			clusterName: cluster,
			features: supportedFeatures,
			expected: scale.expected,
			healthy,
			candidates,
			// Sorted, so that a difference between two counts is a real change.
			unavailable: unavailable
				.toSorted((a, b) => Number(b.reservation !== undefined) - Number(a.reservation !== undefined) || byName(a, b))
				.slice(0, mostUnavailableTold)
				.map(({ pod, reservation }) => unavailablePod(pod, reservation, options.grants)),
			...(mislabelled.length > 0 && { mislabelled }),
		},
		scale,
	};
}

async function candidateState(
	candidate: PodReference,
	pod: PodRecord | undefined,
	reservations: ReadonlyMap<string, Reservation>,
	scale: ExpectedScale,
	api: Pick<ClusterApi, "getPod">,
): Promise<CandidateState> {
	const reference = { namespace: candidate.namespace, name: candidate.name, uid: candidate.uid };
	if (!pod) {
		// The pod is gone, newer than the view or the list, or has other labels now. Only a read can tell which.
		const found = await api.getPod(candidate);
		const same = found.kind === "present" && found.pod.uid === candidate.uid;
		return { kind: same ? "unseen" : "gone", pod: reference };
	}
	if (pod.terminating) return { kind: "free", pod: reference, why: "Terminating" };
	if (pod.finished) return { kind: "free", pod: reference, why: "Finished" };
	const reservation = reservations.get(pod.uid);
	const owner = pod.controller && scale.owners.get(pod.controller.uid);
	const unexpected = whyUnexpected(pod, scale.owners);
	return {
		kind: "present",
		pod: reference,
		healthy: isCountedHealthy(pod, reservations),
		resourceVersion: pod.resourceVersion,
		labels: pod.labels,
		...(owner?.kind === "scaled" && { controller: owner.controller }),
		...(unexpected !== undefined && { unexpected }),
		...(reservation && { reservedBy: { holder: reservation.holder, sinceSeconds: reservation.sinceSeconds } }),
		preActivities: pod.preActivities,
	};
}

function unavailablePod(
	pod: PodRecord,
	reservation: Reservation | undefined,
	grants: CountOptions["grants"],
): UnavailablePod {
	const { namespace, name, terminating, status = {} } = pod;
	const grant = grants ? grants.find(pod, reservation) : reservation;
	if (!grant) return { namespace, name, why: terminating ? "Terminating" : "NotReady", ...status };
	const { holder, sinceSeconds } = grant;
	const account = "account" in grant && grant.account !== undefined ? { account: grant.account } : {};
	return terminating
		? { namespace, name, why: "Terminating", holder, ...account, sinceSeconds, ...status }
		: { namespace, name, why: "Reserved", holder, ...account, sinceSeconds, state: "Reserved" };
}

function byName(a: { readonly pod: PodRecord }, b: { readonly pod: PodRecord }): number {
	return a.pod.name < b.pod.name ? -1 : 1;
}
