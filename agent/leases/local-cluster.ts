// Answers the requests of a round (disruption/budget/cluster.ts) for this cluster.
//
// Guarantee: an acquisition is written before its count is taken, by a write that names the Lease's resourceVersion. The exception is an
// optimistic hold: its commit acquires the Lease in its own write and counts again afterwards. It does so only if the Lease is still the
// one that was counted from, and the connection to the API server is still the one of the count (optimistic-holds.ts). A commit is a write
// even if nothing is granted, and is written only if that very acquisition still stands. A reservation leaves a Lease only on evidence,
// through the fence (cancellation.ts), or because a round that sent nothing takes it back. If it leaves on evidence, the same write records
// how far the evidence had come. Any number of agents of one cluster may do all this at the same time.
import { randomUUID } from "node:crypto";
import { type BudgetName, formatBudgetName, supportedFeatures } from "../../disruption/budget/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	Cluster,
	CommitOutcome,
	Count,
	Grant,
	LookRequest,
} from "../../disruption/budget/cluster.ts";
import { AgentProtocolError, AgentUnavailableError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { heldUnder } from "../../disruption/lease/held-under.ts";
import { committed, fits, isLatest, leaseName, released, renewed, stands } from "../../disruption/lease/lease.ts";
import type {
	AgentCluster,
	AgentDescription,
	BudgetList,
	WatchOptions,
	WatchUnsupported,
} from "../../proto/agent-cluster.ts";
import type { BudgetScope, HoldingReference, ListedLease } from "../../proto/listed-lease.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { Clock } from "../process/clock.ts";
import type { BudgetView, LeaseView } from "../views/object-views.ts";
import type { PodView } from "../views/pod-view.ts";
import { ViewMarker } from "../views/view-marker.ts";
import type { WorkloadView } from "../views/workload-view.ts";
import { Acquirer } from "./acquirer.ts";
import { AcquisitionCounts } from "./acquisition-counts.ts";
import { AskedCounts, longestCountAgeMs } from "./asked-counts.ts";
import { BudgetWatch, type BudgetWatchOptions } from "./budget-watch.ts";
import { cancel, takeBack } from "./cancellation.ts";
import { CommitCheck, type CommitCheckOptions, notReserved } from "./commit-check.ts";
import { type CountOptions, type CountQuestion, hasEnoughHealthyPods, look } from "./count.ts";
import { GrantMemory } from "./grant-memory.ts";
import { HolderAccounts } from "./holder-accounts.ts";
import type { KnownMembers } from "./known-members.ts";
import { LeaseStore, type LeaseStoreOptions } from "./lease-store.ts";
import { listLeases } from "./list-leases.ts";
import { lostLease } from "./lost-lease.ts";
import { OptimisticHolds } from "./optimistic-holds.ts";
import { ReplicaSetOwners } from "./replica-set-owners.ts";
import { mergeLineDetails } from "./merge-line-details.ts";
import { dropSettledReservations } from "./drop-settled-reservations.ts";

/** For more namespaces, one list of all budgets costs the API server less than a list of each namespace. */
const mostListedAlone = 10;

export interface LocalClusterOptions extends Pick<LeaseStoreOptions, "beforeCreating"> {
	readonly api: ClusterApi;
	readonly pods: PodView;
	readonly budgets: BudgetView;
	/** If left out, each count lists workloads. */
	readonly workloads?: WorkloadView;
	/** If left out, budgets cannot be watched, Leases cannot be listed, and every hold is written. */
	readonly leaseView?: Pick<LeaseView, "find" | "leases" | "live" | "onChange">;
	/** For people. If left out, no histories are reported. */
	readonly histories?: BudgetWatchOptions["histories"];
	readonly clock: Clock;
	/** The cluster's name, for messages. */
	readonly name: string;
	readonly version: string;
	readonly leaseNamespace: string;
	/** The pod that this agent runs in. If left out, new Leases are counted from lists. */
	readonly ownPod?: { readonly namespace: string; readonly name: string };
	readonly whySlow?: CountOptions["whySlow"];
	readonly membership?: Pick<KnownMembers, "judge" | "assertStill">;
	/** Returns the parts of a description that only this process knows: its clock, its certificates, and the clusters that contacted it. */
	readonly ownDescription?: () => Pick<AgentDescription, "clockMs" | "certificates" | "heard">;
	/** Returns the agent of this cluster that keeps the line. Undefined if it is this agent, or if the other one cannot be reached now. */
	readonly lineHost?: (onBehalfOf?: PassedOnCaller) => (Cluster & Pick<AgentCluster, "listLeases">) | undefined;
	readonly newId?: () => string;
	readonly budgetElsewhere?: CommitCheckOptions["budgetElsewhere"];
	/** Called with errors that do not reach a caller. */
	readonly report?: (problem: unknown) => void;
}

export class LocalCluster implements AgentCluster {
	readonly id: string;
	readonly name: string;
	readonly leases: LeaseStore;
	readonly #options: LocalClusterOptions;
	readonly #acquirer: Acquirer;
	readonly #counts: AcquisitionCounts;
	readonly #commitCheck: CommitCheck;
	readonly #grants = new GrantMemory();
	readonly #watch: BudgetWatch | undefined;
	readonly #accounts = new HolderAccounts();
	readonly #optimistic: OptimisticHolds;
	readonly #asked = new AskedCounts();
	readonly #counting: CountOptions;

	constructor(options: LocalClusterOptions) {
		const { api, pods, budgets, workloads, leaseView, histories, clock, name: cluster } = options;
		const { lineHost, newId, budgetElsewhere, beforeCreating, ownPod, whySlow, report } = options;
		this.id = api.clusterId;
		this.name = cluster;
		this.#options = options;
		this.leases = new LeaseStore({
			api,
			clock,
			cluster,
			beforeCreating,
			onSeen: (lease) => this.#grants.saw(lease),
		});
		this.#optimistic = new OptimisticHolds({ api, newId });
		this.#commitCheck = new CommitCheck({ api, pods, name: cluster, budgetElsewhere });
		const marker = ownPod && new ViewMarker({ api, pods, ownPod, clock, cluster, newId, report });
		const counting = { api, pods, marker, budgets, workloads, grants: this.#grants, cluster, whySlow, report };
		this.#counting = { ...counting, replicaSets: new ReplicaSetOwners(clock) };
		this.#counts = new AcquisitionCounts({
			counting: this.#counting,
			leases: this.leases,
			commitCheck: this.#commitCheck,
			clock,
		});
		this.#watch = leaseView && new BudgetWatch({ counting, leases: leaseView, clock, histories });
		this.#acquirer = new Acquirer({
			leases: this.leases,
			counts: this.#counts,
			pods,
			leaseView,
			clock,
			cluster,
			lineHost,
			onEnded: (acquisition) => this.#commitCheck.forget(acquisition),
			report: (problem) => report?.(problem),
		});
	}

	acquire(request: AcquireRequest, options: AcquireOptions, caller?: PassedOnCaller): Promise<AcquireOutcome> {
		if (caller) this.#accounts.asked(request.nonce, caller.user);
		const acquiring = (): Promise<AcquireOutcome> =>
			this.#optimistic.acquire(request, (asked) => this.#acquirer.acquire(asked, options, caller));
		return this.#remembering(acquiring);
	}

	/** For a call that another agent of this cluster has forwarded. If the hold is optimistic, only that agent remembers it. */
	acquireHere(request: AcquireRequest, options: AcquireOptions, caller?: PassedOnCaller): Promise<AcquireOutcome> {
		if (caller) this.#accounts.asked(request.nonce, caller.user);
		return this.#remembering(() => this.#acquirer.acquireHere(request, options));
	}

	async count(acquisition: Acquisition, question: CountQuestion): Promise<Count> {
		this.#assertSynced();
		const askedAt = this.#options.clock.now();
		const count = await this.#counts.again(acquisition, question);
		this.#asked.rememberAgain(acquisition, askedAt);
		return count;
	}

	async look(question: LookRequest): Promise<Count> {
		this.#assertSynced();
		return look(this.leases.read(question.budget), question, this.#counting);
	}

	async describe(budgetsOf?: readonly string[]): Promise<AgentDescription> {
		const { api, membership } = this.#options;
		// If the list fails, it is left out. A caller that then requests the list alone gets the error.
		const listing = budgetsOf && this.listBudgets(budgetsOf).catch(() => undefined);
		const { fleet, missing } = membership ? await membership.judge() : { fleet: await api.getFleet(), missing: [] };
		const budgets = await listing;
		return {
			clusterId: this.id,
			clusterName: this.name,
			version: this.#options.version,
			features: supportedFeatures,
			members: fleet.members,
			fleetHash: fleetHash(fleet.members.map(({ id }) => id)),
			leaseNamespace: this.#options.leaseNamespace,
			...(missing.length > 0 && { unresolved: missing.map(({ id, name }) => ({ id, name })) }),
			...(fleet.forgotten.length > 0 && { forgotten: fleet.forgotten }),
			...this.#options.ownDescription?.(),
			...(budgets && { budgets }),
		};
	}

	/** Lists the budgets of these namespaces consistently. An empty list means all namespaces. */
	async listBudgets(namespaces: readonly string[]): Promise<BudgetList> {
		// A caller that lists budgets will probably request counts if there are any.
		this.#options.budgets.wanted();
		const { api } = this.#options;
		const wanted = new Set(namespaces);
		const alone = wanted.size > 0 && wanted.size <= mostListedAlone;
		const [{ members }, all] = await Promise.all([
			api.getFleet(),
			alone ? Promise.all([...wanted].map((each) => api.listBudgets(each))) : api.listBudgets(),
		]);
		const budgets = all.flat().filter(({ name }) => wanted.size === 0 || wanted.has(name.namespace));
		if (wanted.size > 0)
			for (const each of new Set(budgets.map(({ name }) => name.namespace))) this.#options.workloads?.wanted(each);
		return { clusterId: this.id, fleetHash: fleetHash(members.map(({ id }) => id)), budgets };
	}

	async watchBudgets(namespaces: readonly string[], options: WatchOptions): Promise<WatchUnsupported> {
		// The view of budgets is compared with consistent lists only while it is wanted, and watches follow that view.
		this.#options.budgets.wanted();
		return this.#watch ? this.#watch.watch(namespaces, options) : { kind: "unsupported" };
	}

	get watchers(): number {
		return this.#watch?.readers ?? 0;
	}

	/** Lists this cluster's Leases. Also asks the agent that keeps the line: callers wait there, and it knows the accounts of most holders. */
	async listLeases(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]> {
		const host = this.#options.lineHost?.();
		const here = await this.listLeasesHere(scopes);
		if (!host) return here;
		const there = await host.listLeases(scopes).catch((error: unknown) => {
			if (!(error instanceof AgentUnavailableError || error instanceof AgentProtocolError)) throw error;
			return undefined;
		});
		return mergeLineDetails(here, there);
	}

	/** Lists the Leases as this process knows them, without asking the agent that keeps the line. */
	async listLeasesHere(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]> {
		return listLeases(scopes, {
			cluster: this.name,
			view: this.#options.leaseView,
			leases: this.leases,
			grants: this.#grants,
			accounts: this.#accounts,
			lineLength: (budget) => this.lineLength(budget),
		});
	}

	async renew(acquisition: Acquisition): Promise<void> {
		const { lease, result } = await this.leases.changeExisting(acquisition.budget, (found) =>
			stands(found, acquisition) ? { write: renewed(found), result: true } : { result: false },
		);
		if (!result) throw lostLease(acquisition, lease, this.name);
	}

	/** `caller` is the user for whom the commit is made, for people. */
	async commit(
		acquisition: Acquisition,
		grants: readonly Grant[],
		caller?: Pick<PassedOnCaller, "user">,
	): Promise<CommitOutcome> {
		await this.#options.membership?.assertStill();
		const { pods, clock } = this.#options;
		const hold = this.#optimistic.find(acquisition);
		if (acquisition.unwritten && !hold) return { kind: "lost", reason: this.#countedElsewhere(acquisition) };
		const since = clock.wallSeconds();
		const checked = await this.#commitCheck.check(acquisition, grants);
		const asked = hold ? { ...acquisition, unwritten: hold.counted } : acquisition;
		let broken: string | undefined;
		const { lease, result } = await this.leases.change<CommitOutcome["kind"]>(acquisition.budget, (found) => {
			if (isLatest(found, acquisition) && found.state.phase === "committed") return { result: "stood" };
			const held = heldUnder(found, asked);
			if (!held) return { result: "lost" };
			broken =
				hold && !this.#optimistic.isUnbroken(hold) ? this.#countedElsewhere(acquisition) : this.#whyOld(acquisition);
			if (broken !== undefined) return { result: "lost" };
			// An acquire does the same, and this write also acquires the Lease.
			const kept = hold ? dropSettledReservations(held, pods) : held;
			const next = committed(kept, checked.grants, since);
			return fits(next) ? { write: next, result: "stood" } : { result: "full" };
		});
		const { reservations, controllers } = lease.state;
		if (result === "full") {
			const remembered = controllers.length > 0 && { controllers: controllers.length };
			return { kind: "full", reservations: reservations.length, ...remembered };
		}
		this.#acquirer.ended(acquisition);
		if (result === "lost") {
			return { kind: "lost", reason: broken ?? lostLease(acquisition, lease, this.name).message };
		}
		const ids = new Set(grants.map(({ id }) => id));
		if (hold && !(await hasEnoughHealthyPods(lease, hold, ids, this.#counting))) {
			const reason = `fewer pods of budget "${formatBudgetName(lease.budget)}" are healthy in cluster "${this.name}" than were counted`;
			return { kind: "lost", reason };
		}
		if (caller) this.#grants.committed(ids, caller.user);
		const leftOut = notReserved(lease, grants, checked);
		return { kind: "stood", ...(leftOut.length > 0 && { leftOut }) };
	}

	release(acquisition: Acquisition): Promise<void> {
		return this.#acquirer.release(acquisition);
	}

	async confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean> {
		const lease = await this.leases.read(budget);
		const standing = new Set(lease?.state.reservations.filter(({ cancelling }) => !cancelling).map(({ id }) => id));
		return ids.length > 0 && ids.every((id) => standing.has(id));
	}

	async cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void> {
		const wanted = new Set(ids);
		this.#grants.forget(wanted);
		if (!options.sent) return takeBack(budget, wanted, this.leases);
		return cancel(budget, wanted, {
			api: this.#options.api,
			leases: this.leases,
			newId: this.#newId,
			cluster: this.name,
		});
	}

	/** Ends the reservations of this Lease for which the view shows evidence. */
	async endOnEvidence(budget: BudgetName): Promise<void> {
		await this.leases.changeExisting(budget, (lease) => {
			const next = dropSettledReservations(lease, this.#options.pods);
			return next === lease ? { result: undefined } : { write: next, result: undefined };
		});
	}

	/** Releases the Lease if its holder has shown no sign of life for the lease duration. */
	async endSilent(budget: BudgetName): Promise<void> {
		await this.leases.changeExisting(budget, (lease) =>
			lease.holder !== "" && this.leases.isFree(lease)
				? { write: released(lease), result: undefined }
				: { result: undefined },
		);
	}

	/**
	 * Releases the Lease for its holder, as if the hold had expired. The holder's commit then finds that its acquisition does not stand. Only
	 * the hold ends, because granted pods may have been evicted. Returns false if that hold no longer stands.
	 */
	async endHolding({ budget, leaseUid, transitions }: HoldingReference): Promise<boolean> {
		const { result = false } = await this.leases.changeExisting(budget, (lease) =>
			lease.holder !== "" && lease.uid === leaseUid && lease.transitions === transitions
				? { write: released(lease), result: true }
				: { result: false },
		);
		if (result) this.#acquirer.leaseChanged(leaseName(budget));
		return result;
	}

	/** Lets the next waiting caller try, because the watch shows that the Lease changed. */
	leaseChanged(name: string): void {
		this.#acquirer.leaseChanged(name);
	}

	lineLength(budget: BudgetName): number {
		return this.#acquirer.lineLength(budget);
	}

	/** Refuses new acquisitions, and releases those whose counts are under way. */
	close(): Promise<void> {
		return this.#acquirer.close();
	}

	/**
	 * Remembers when the acquisition and its count were requested. After a wait in line, the count is younger than this time says, so its
	 * commit may be refused too early. After a wait of over a second the caller counts again, but callers of version 0.1 may not.
	 */
	async #remembering(acquiring: () => Promise<AcquireOutcome>): Promise<AcquireOutcome> {
		const askedAt = this.#options.clock.now();
		const outcome = await acquiring();
		if (outcome.kind === "acquired") this.#asked.remember(outcome.acquisition, askedAt);
		return outcome;
	}

	/** Returns why the count is too old, or not known here. Undefined if it is recent enough for a write that is sent right now. */
	#whyOld(acquisition: Acquisition): string | undefined {
		const askedAt = this.#asked.find(acquisition);
		if (askedAt === undefined) return this.#countedElsewhere(acquisition);
		if (this.#options.clock.now() - askedAt <= longestCountAgeMs) return undefined;
		const count = `the count of cluster "${this.name}" for budget "${formatBudgetName(acquisition.budget)}"`;
		return `${count} is older than ${longestCountAgeMs / 1_000} s, so it may be out of date`;
	}

	#countedElsewhere({ budget }: Acquisition): string {
		return (
			`the count of cluster "${this.name}" for budget "${formatBudgetName(budget)}" is lost: another agent took it, ` +
			"or this agent's connection to the API server has closed since"
		);
	}

	readonly #newId = (): string => this.#options.newId?.() ?? randomUUID();

	#assertSynced(): void {
		if (this.#options.pods.synced) return;
		throw new AgentUnavailableError(
			`the agent of cluster "${this.name}" has not finished its first list of pods`,
			this.name,
		);
	}
}
