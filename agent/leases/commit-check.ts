// What a commit is checked against before it is written: the right to decide about a budget is no right to be believed.
//
// Guarantee: a pod gets a reservation only where this agent's own view, which has come to the version that the grant names,
// has it, and where the budget selects it by the labels that it has there; the budget exists in this cluster, or else in
// another member. Its name is the view's, and the controller remembered for it is the one that its own references and the
// API server name. So nobody can fill a Lease with pods that do not exist, make another team's pods count as unavailable,
// or raise what is expected. Where the view does not come that far, or somebody who has to be asked cannot be, nothing is
// written. What is not checked: whether the budget had room. That is the round's, as it always was.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Acquisition, Grant, LeftOut, MemberBudget } from "../../disruption/budget/cluster.ts";
import { coveringBudgets } from "../../disruption/budget/covering.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { assertReservable, type BudgetLease, leaseName } from "../../disruption/lease/lease.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import { latestResourceVersion } from "../../disruption/resource-version.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { PodView } from "../views/pod-view.ts";
import { createOwners, type Owner } from "./controller-owners.ts";
import type { CountResult } from "./count.ts";

/** The view that the grant was counted from has it already; another agent's is a watch event behind, or in trouble. */
const viewWaitMs = 1_000;

export interface CommitCheckOptions {
	readonly api: Pick<ClusterApi, "getBudget" | "getScale">;
	readonly pods: Pick<PodView, "arrives" | "resourceVersion" | "find">;
	/** For people. */
	readonly name: string;
	/** The budget as other members have it; rejects where none has it and one of them cannot be asked. */
	readonly budgetElsewhere?: ((budget: BudgetName) => Promise<readonly MemberBudget[]>) | undefined;
}

interface CheckedGrants {
	/** As this agent has them. */
	readonly grants: readonly Grant[];
	readonly leftOut: readonly LeftOut[];
}

/** What a count under an acquisition has found, so that its commit need not ask again. */
interface Counted {
	readonly nonce: string;
	/** Of this cluster; undefined where it has none of that name. */
	readonly budget: MemberBudget | undefined;
	readonly owners: ReadonlyMap<string, Owner>;
}

export class CommitCheck {
	readonly #options: CommitCheckOptions;
	/** By the Lease's name: of its latest acquisition through this agent. */
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
		const [budgets] = await Promise.all([this.#budgets(budget, counted), this.#seen(budget, grants)]);
		const reserved: { readonly grant: Grant; readonly pod: PodRecord }[] = [];
		const leftOut: LeftOut[] = [];
		for (const grant of grants) {
			const { uid } = grant.pod;
			const pod = this.#options.pods.find(grant.pod);
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

	/** Waits for the view, for a second at most: whoever names a version that nobody ever gave waits no longer. */
	async #seen(budget: BudgetName, grants: readonly Grant[]): Promise<void> {
		const { pods, name } = this.#options;
		const version = latestResourceVersion(...grants.map(({ resourceVersion }) => resourceVersion));
		if (await pods.arrives(version, viewWaitMs)) return;
		throw new AgentUnavailableError(
			`Cannot reserve pods under budget "${formatBudgetName(budget)}" in cluster "${name}": its agent has seen pods up to ` +
				`version ${pods.resourceVersion === "" ? "none" : pods.resourceVersion}, and version ${version} is to be reserved`,
			name,
		);
	}

	async #budgets(budget: BudgetName, counted: Counted | undefined): Promise<readonly MemberBudget[]> {
		const { api, budgetElsewhere } = this.#options;
		const here = counted ? counted.budget : await api.getBudget(budget);
		return here ? [here] : ((await budgetElsewhere?.(budget)) ?? []);
	}
}

/** Grants without a reservation in the Lease as it was written: of a commit that was written before, those too that ended since. */
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

/** A budget that cannot be read selects nothing here: `decide` refuses it by name. */
function isSelected(pod: PodRecord, budgets: readonly MemberBudget[]): boolean {
	return coveringBudgets(budgets, pod).some(({ selector }) => selector !== undefined);
}

/** Of those that say how many pods they want, or may again. */
function rememberedOf(owner: Owner): ControllerReference | undefined {
	const isKnown = owner.kind === "scaled" || owner.kind === "unsettled" || owner.kind === "unstated";
	return isKnown ? owner.controller : undefined;
}
