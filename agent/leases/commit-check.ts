// Checks a commit before it is written, because an account that may decide about a budget is not trusted to report facts.
//
// Guarantee: a pod gets a reservation only if this agent's own view has it and has reached the version that the grant names. While the
// watch is dead, a read of the pod takes the place of the view. The budget must select the pod by the labels that were found, and must
// exist in this cluster or else in another member. The reservation has the pod's name as it was found. The Lease remembers the controller that the pod's own reference and the API server name, not the one in the grant. So
// no caller can fill a Lease with pods that do not exist, make another team's pods count as unavailable, or raise the number of expected
// pods. If the view does not reach that version, or a required answer is missing, nothing is written. Whether the budget had room is for
// the round to check.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Acquisition, Grant, LeftOut, MemberBudget } from "../../disruption/budget/cluster.ts";
import { coveringBudgets } from "../../disruption/budget/covering.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { assertReservable, type BudgetLease, leaseName } from "../../disruption/lease/lease.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import { compareResourceVersions, latestResourceVersion } from "../../disruption/resource-version.ts";
import { Semaphore } from "../../disruption/round/semaphore.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { PodView } from "../views/pod-view.ts";
import { createOwners, type Owner } from "./controller-owners.ts";
import type { CountResult } from "./count.ts";

/**
 * How long a commit waits for the view. The view that the grant was counted from has already reached the grant's version. Another agent's
 * view may be a moment behind.
 */
const viewWaitMs = 1_000;
/** How many pods are read at the same time while the watch is dead. */
const readsAtOnce = 20;

export interface CommitCheckOptions {
	readonly api: Pick<ClusterApi, "getBudget" | "getScale" | "getPod">;
	readonly pods: Pick<PodView, "arrives" | "live" | "resourceVersion" | "find">;
	/** The cluster's name, for messages. */
	readonly name: string;
	/** Returns the budget as other members have it. Rejects if no other member has it and one of them cannot be asked. */
	readonly budgetElsewhere?: ((budget: BudgetName) => Promise<readonly MemberBudget[]>) | undefined;
}

interface CheckedGrants {
	/** The grants to reserve, as this agent's view has their pods. */
	readonly grants: readonly Grant[];
	readonly leftOut: readonly LeftOut[];
}

/** Findings of a count under an acquisition, so that its commit need not request them again. */
interface Counted {
	readonly nonce: string;
	/** Undefined if this cluster has no budget of that name. */
	readonly budget: MemberBudget | undefined;
	readonly owners: ReadonlyMap<string, Owner>;
}

export class CommitCheck {
	readonly #options: CommitCheckOptions;
	/** By Lease name: the findings of the latest count through this agent. */
	readonly #counted = new Map<string, Counted>();

	constructor(options: CommitCheckOptions) {
		this.#options = options;
	}

	counted({ budget, nonce }: Acquisition, { count, owners }: Pick<CountResult, "count" | "owners">): void {
		const here = count.budgets.find(({ name }) => formatBudgetName(name) === formatBudgetName(budget));
		this.#counted.set(leaseName(budget), { budget: here, owners, nonce });
	}

	forget({ budget, nonce }: Acquisition): void {
		if (this.#counted.get(leaseName(budget))?.nonce === nonce) this.#counted.delete(leaseName(budget));
	}

	async check(acquisition: Acquisition, grants: readonly Grant[]): Promise<CheckedGrants> {
		if (grants.length === 0) return { grants: [], leftOut: [] };
		const { budget } = acquisition;
		for (const grant of grants) assertReservable(grant, budget);
		const known = this.#counted.get(leaseName(budget));
		const counted = known?.nonce === acquisition.nonce ? known : undefined;
		const [budgets, pods] = await Promise.all([this.#budgets(budget, counted), this.#find(budget, grants)]);
		const reserved: { readonly grant: Grant; readonly pod: PodRecord }[] = [];
		const leftOut: LeftOut[] = [];
		for (const grant of grants) {
			const { uid } = grant.pod;
			const pod = pods.get(uid);
			if (!pod) leftOut.push({ uid, why: "Gone" });
			else if (isSelected(pod, budgets)) reserved.push({ grant, pod });
			else leftOut.push({ uid, why: "NotCovered" });
		}
		const owners = createOwners(this.#options.api, budget.namespace);
		const asSeen = await Promise.all(
			reserved.map(async ({ grant: { id, resourceVersion }, pod }): Promise<Grant> => {
				const { namespace, name, uid } = pod;
				const owner =
					pod.controller && (counted?.owners.get(pod.controller.uid) ?? (await owners.ofPod(pod.controller)));
				const controller = owner && rememberedOf(owner);
				return { id, pod: { namespace, name, uid }, resourceVersion, ...(controller && { controller }) };
			}),
		);
		return { grants: asSeen, leftOut };
	}

	/**
	 * Finds the grants' pods by uid, each at least in the version that its grant names. Rejects if that version does not appear within a
	 * second, because a grant may name a version that never existed.
	 */
	async #find(budget: BudgetName, grants: readonly Grant[]): Promise<ReadonlyMap<string, PodRecord>> {
		const { pods } = this.#options;
		const version = latestResourceVersion(...grants.map(({ resourceVersion }) => resourceVersion));
		if (await pods.arrives(version, viewWaitMs)) return byUid(grants.map(({ pod }) => pods.find(pod)));
		if (pods.live) throw this.#versionUnseen(budget, version, `the agent's view is at version ${pods.resourceVersion}`);
		const places = new Semaphore(readsAtOnce);
		return byUid(await Promise.all(grants.map((grant) => places.run(() => this.#read(budget, grant)))));
	}

	/** Undefined if the pod is gone, or if another pod has its name. */
	async #read(budget: BudgetName, { pod, resourceVersion }: Grant): Promise<PodRecord | undefined> {
		const found = await this.#options.api.getPod(pod);
		if (found.kind === "gone" || found.pod.uid !== pod.uid) return undefined;
		if (compareResourceVersions(found.pod.resourceVersion, resourceVersion) >= 0) return found.pod;
		const has = `pod "${pod.namespace}/${pod.name}" is at version ${found.pod.resourceVersion}`;
		throw this.#versionUnseen(budget, resourceVersion, has);
	}

	#versionUnseen(budget: BudgetName, version: string, has: string): AgentUnavailableError {
		const { name } = this.#options;
		return new AgentUnavailableError(
			`cannot reserve pods under budget "${formatBudgetName(budget)}" in cluster "${name}": ${has}, but the grant names version ${version}`,
			name,
		);
	}

	async #budgets(budget: BudgetName, counted: Counted | undefined): Promise<readonly MemberBudget[]> {
		const { api, budgetElsewhere } = this.#options;
		const here = counted ? counted.budget : await api.getBudget(budget);
		return here ? [here] : ((await budgetElsewhere?.(budget)) ?? []);
	}
}

function byUid(pods: readonly (PodRecord | undefined)[]): ReadonlyMap<string, PodRecord> {
	return new Map(pods.flatMap((pod) => (pod ? [[pod.uid, pod]] : [])));
}

/**
 * Returns the grants that have no reservation in the Lease as it was written. For a repeated commit, these include grants whose
 * reservations have ended since.
 */
export function notReserved(
	lease: BudgetLease,
	grants: readonly Grant[],
	{ leftOut }: CheckedGrants,
): readonly LeftOut[] {
	const standing = new Set(lease.state.reservations.map(({ id }) => id));
	return grants
		.filter(({ id }) => !standing.has(id))
		.map(({ pod }) => leftOut.find(({ uid }) => uid === pod.uid) ?? { uid: pod.uid, why: "Gone" });
}

/** Whether one of these budgets selects the pod. A budget with an unreadable selector selects nothing here, and decide() refuses it. */
function isSelected(pod: PodRecord, budgets: readonly MemberBudget[]): boolean {
	return coveringBudgets(budgets, pod).some(({ selector }) => selector !== undefined);
}

/** Returns the controller for the Lease to remember. Undefined unless the owner says how many pods it wants, or may say so later. */
function rememberedOf(owner: Owner): ControllerReference | undefined {
	const isKnown = owner.kind === "scaled" || owner.kind === "unsettled" || owner.kind === "unstated";
	return isKnown ? owner.controller : undefined;
}
