// This cluster, as the round sees it: the agent's own answers to disruption/cluster.ts.
//
// Guarantee: an acquisition is written with the Lease's resourceVersion before its count is taken; a commit writes only
// where that very acquisition still stands, and writes also where nothing is granted; a reservation leaves a Lease only
// on evidence (with how far it had come, in the same write), through the fence (cancellation.ts), or taken back by a
// round that sent nothing. Any number of agents of one cluster may do all this at once.
import { randomUUID } from "node:crypto";
import { type BudgetName, formatBudgetName, supportedFeatures } from "../../disruption/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	Cluster,
	CommitOutcome,
	Count,
	Grant,
} from "../../disruption/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/fleet.ts";
import {
	acquired,
	acquisitionOf,
	type BudgetLease,
	committed,
	fits,
	handoverDurationMs,
	isLatest,
	leaseDurationMs,
	leaseName,
	longestCountMs,
	released,
	renewed,
	stands,
	withObserved,
	withObservedFromRestore,
	withoutControllers,
	withoutReservations,
} from "../../disruption/lease.ts";
import { evidenceOf } from "../../disruption/reservation.ts";
import { latestResourceVersion } from "../../disruption/resource-version.ts";
import type { AgentCluster, AgentDescription, BudgetList } from "../../proto/agent-cluster.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { Clock } from "../process/clock.ts";
import { withinTime } from "../process/within-time.ts";
import type { BudgetView } from "../views/object-views.ts";
import type { PodView } from "../views/pod-view.ts";
import { cancel, takeBack } from "./cancellation.ts";
import { CommitCheck, type CommitCheckOptions, notReserved } from "./commit-check.ts";
import { type CountQuestion, countUnder, look } from "./count.ts";
import { Handovers } from "./handovers.ts";
import type { KnownMembers } from "./known-members.ts";
import { LeaseStore, type LeaseStoreOptions } from "./lease-store.ts";
import { lostLease } from "./lost-lease.ts";
import { WaitingLine } from "./waiting-line.ts";

export interface LocalClusterOptions extends Pick<LeaseStoreOptions, "beforeCreating"> {
	readonly api: ClusterApi;
	readonly pods: PodView;
	readonly budgets: BudgetView;
	readonly clock: Clock;
	/** For people. */
	readonly name: string;
	readonly version: string;
	readonly leaseNamespace: string;
	readonly membership?: Pick<KnownMembers, "judge" | "assertStill">;
	/** The agent of this cluster that keeps the line; undefined where it is this one. */
	readonly lineHost?: (onBehalfOf?: PassedOnCaller) => Cluster | undefined;
	readonly newId?: () => string;
	readonly budgetElsewhere?: CommitCheckOptions["budgetElsewhere"];
	/** Told of what went wrong beside an answer. */
	readonly report?: (problem: unknown) => void;
}

export class LocalCluster implements AgentCluster {
	readonly id: string;
	readonly name: string;
	readonly leases: LeaseStore;
	readonly #options: LocalClusterOptions;
	readonly #line: WaitingLine;
	readonly #commitCheck: CommitCheck;
	readonly #handovers: Handovers;
	/** The latest acquisition of each Lease that was given out here and not ended here, for a shutdown to give back. */
	readonly #held = new Map<string, Acquisition>();
	#closing = false;

	constructor(options: LocalClusterOptions) {
		this.id = options.api.clusterId;
		this.name = options.name;
		this.#options = options;
		this.leases = new LeaseStore({ ...options, cluster: options.name });
		this.#line = new WaitingLine(options.clock);
		this.#commitCheck = new CommitCheck(options);
		this.#handovers = new Handovers({
			clock: options.clock,
			giveBackUnused: (acquisition) => this.#giveBackUnused(acquisition),
			report: (problem) => options.report?.(problem),
		});
	}

	async acquire(request: AcquireRequest, options: AcquireOptions, caller?: PassedOnCaller): Promise<AcquireOutcome> {
		const host = this.#options.lineHost?.(caller);
		if (host) {
			try {
				return await host.acquire(request, options);
			} catch (error) {
				// Served here instead, past the line: a line that cannot be reached must not hold everyone up.
				if (!(error instanceof AgentUnavailableError) || options.signal.aborted) throw error;
				this.#options.report?.(error);
			}
		}
		return this.acquireHere(request, options);
	}

	/** Acquires without passing the call on: for callers that were passed on already. */
	async acquireHere(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		let waited = false;
		const outcome = await this.#line.acquire(
			leaseName(request.budget),
			(handover) => {
				waited = handover;
				return this.#attempt(request);
			},
			options,
		);
		if (outcome.kind !== "acquired") return outcome;
		if (options.signal.aborted) {
			await this.#giveBack(outcome.acquisition);
			throw options.signal.reason;
		}
		if (!waited) return outcome;
		this.#handovers.begin(outcome.acquisition, options.answered ?? Promise.resolve());
		return { ...outcome, leaseDurationMs: Math.min(handoverDurationMs, outcome.leaseDurationMs) };
	}

	async count(acquisition: Acquisition, question: CountQuestion): Promise<Count> {
		this.#assertSynced();
		return this.#count(acquisition, this.#readHeld(acquisition), question);
	}

	/** A count that no decision may rest on. */
	async look(question: CountQuestion): Promise<Count> {
		this.#assertSynced();
		return look(this.leases.read(question.budget), question, { ...this.#options, cluster: this.name });
	}

	async describe(): Promise<AgentDescription> {
		const { api, membership } = this.#options;
		const { fleet, missing } = membership ? await membership.judge() : { fleet: await api.getFleet(), missing: [] };
		return {
			clusterId: this.id,
			clusterName: this.name,
			version: this.#options.version,
			features: supportedFeatures,
			members: fleet.members,
			fleetHash: fleetHash(fleet.members.map(({ id }) => id)),
			leaseNamespace: this.#options.leaseNamespace,
			...(missing.length > 0 && { unresolved: missing.map(({ id, name }) => ({ id, name })) }),
		};
	}

	/** All budgets of these namespaces, or of all, by a consistent list. */
	async listBudgets(namespaces: readonly string[]): Promise<BudgetList> {
		// Whoever asks for budgets will ask for counts.
		this.#options.budgets.wanted();
		const [namespace] = namespaces;
		const wanted = new Set(namespaces);
		const [{ members }, budgets] = await Promise.all([
			this.#options.api.getFleet(),
			this.#options.api.listBudgets(namespaces.length === 1 ? namespace : undefined),
		]);
		return {
			clusterId: this.id,
			fleetHash: fleetHash(members.map(({ id }) => id)),
			budgets: wanted.size === 0 ? budgets : budgets.filter(({ name }) => wanted.has(name.namespace)),
		};
	}

	async renew(acquisition: Acquisition): Promise<void> {
		const { lease, result } = await this.leases.change(acquisition.budget, (found) =>
			stands(found, acquisition) ? { write: renewed(found), result: true } : { result: false },
		);
		if (!result) throw lostLease(acquisition, lease, this.name);
	}

	async commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome> {
		await this.#options.membership?.assertStill();
		const since = this.#options.clock.wallSeconds();
		const checked = await this.#commitCheck.check(acquisition, grants);
		const { lease, result } = await this.leases.change<CommitOutcome["kind"]>(acquisition.budget, (found) => {
			if (isLatest(found, acquisition) && found.state.phase === "committed") return { result: "stood" };
			if (!stands(found, acquisition)) return { result: "lost" };
			const next = committed(found, checked.grants, since);
			return fits(next) ? { write: next, result: "stood" } : { result: "full" };
		});
		const { reservations, controllers } = lease.state;
		if (result === "full") {
			const remembered = controllers.length > 0 && { controllers: controllers.length };
			return { kind: "full", reservations: reservations.length, ...remembered };
		}
		this.#ended(acquisition);
		if (result === "lost") return { kind: "lost", reason: lostLease(acquisition, lease, this.name).message };
		const leftOut = notReserved(lease, grants, checked);
		return { kind: "stood", ...(leftOut.length > 0 && { leftOut }) };
	}

	async release(acquisition: Acquisition): Promise<void> {
		this.#forget(acquisition);
		await this.leases.change(acquisition.budget, (found) =>
			stands(found, acquisition) ? { write: released(found), result: undefined } : { result: undefined },
		);
		this.#ended(acquisition);
	}

	async confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean> {
		const lease = await this.leases.read(budget);
		const standing = new Set(lease?.state.reservations.filter(({ cancelling }) => !cancelling).map(({ id }) => id));
		return ids.length > 0 && ids.every((id) => standing.has(id));
	}

	async cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void> {
		const wanted = new Set(ids);
		if (!options.sent) return takeBack(budget, wanted, this.leases);
		return cancel(budget, wanted, {
			api: this.#options.api,
			leases: this.leases,
			newId: this.#newId,
			cluster: this.name,
		});
	}

	/** Ends the reservations of this Lease for which the view shows evidence, or a list where its watch is dead. */
	async endOnEvidence(budget: BudgetName): Promise<void> {
		if (!this.#options.pods.live) await this.#options.pods.refresh();
		await this.leases.change(budget, (lease) => {
			const next = this.#withoutEvident(lease);
			return next === lease ? { result: undefined } : { write: next, result: undefined };
		});
	}

	/** Gives the Lease back where its holder has shown no life for its duration, as whoever acquires it would. */
	async endSilent(budget: BudgetName): Promise<void> {
		await this.leases.change(budget, (lease) =>
			lease.holder !== "" && this.leases.isFree(lease)
				? { write: released(lease), result: undefined }
				: { result: undefined },
		);
	}

	/** The Lease changed, by the watch: whoever waits for it may try. */
	leaseChanged(name: string): void {
		this.#line.wake(name);
	}

	/** How many wait for this budget's Lease here. */
	lineLength(budget: BudgetName): number {
		return this.#line.length(leaseName(budget));
	}

	/** No new acquisitions, and those that callers hold through this agent are given back. */
	async close(): Promise<void> {
		this.#closing = true;
		const results = await Promise.allSettled([...this.#held.values()].map((acquisition) => this.release(acquisition)));
		for (const result of results) if (result.status === "rejected") this.#options.report?.(result.reason);
	}

	readonly #newId = (): string => this.#options.newId?.() ?? randomUUID();

	async #attempt(request: AcquireRequest): ReturnType<Parameters<WaitingLine["acquire"]>[1]> {
		this.#assertSynced();
		if (this.#closing) throw this.#unavailable("is shutting down");
		const { lease, result: got } = await this.leases.change(request.budget, (found) => {
			// A doubled call: the Lease is ours already.
			if (found.state.phase === "held" && found.state.nonce === request.nonce) return { result: true };
			if (!this.leases.isFree(found)) return { result: false };
			const { holder, nonce } = request;
			const by = { holder, nonce, durationMs: leaseDurationMs };
			// What a dead watch has shown may be from before etcd was restored, and the pod alive.
			const kept = this.#options.pods.live ? this.#withoutEvident(found) : found;
			return { write: acquired(kept, by), result: true };
		});
		if (!got) {
			return {
				kind: "held",
				position: 1,
				holder: lease.holder,
				heldForMs: this.leases.heldForMs(lease),
				retryAfterMs: lease.durationMs - this.leases.silentForMs(lease) + 1,
			};
		}
		const acquisition = acquisitionOf(lease);
		const endsAt = this.#options.clock.now() + lease.durationMs - this.leases.silentForMs(lease);
		this.#held.set(lease.name, acquisition);
		try {
			// close() may have come and gone while the Lease was being written.
			if (this.#closing) throw this.#unavailable("is shutting down");
			const count = await this.#count(acquisition, Promise.resolve(lease), request);
			const leftMs = Math.max(endsAt - this.#options.clock.now(), 1);
			return { kind: "acquired", acquisition, count, leaseDurationMs: leftMs };
		} catch (error) {
			await this.#giveBack(acquisition);
			throw error;
		}
	}

	/** Releases what its caller will not hear of; where that fails too, the lease time ends it. */
	async #giveBack(acquisition: Acquisition): Promise<void> {
		await this.release(acquisition).catch((problem: unknown) => this.#options.report?.(problem));
	}

	/** Nothing was heard of whoever was handed the Lease, by no agent of this cluster: so says the Lease itself. */
	async #giveBackUnused(acquisition: Acquisition): Promise<void> {
		const { result } = await this.leases.change(acquisition.budget, (found) =>
			stands(found, acquisition) && found.state.renewals === 0
				? { write: released(found), result: true }
				: { result: false },
		);
		if (result) this.#ended(acquisition);
	}

	async #readHeld(acquisition: Acquisition): Promise<BudgetLease> {
		const lease = await this.leases.read(acquisition.budget);
		if (!lease || !stands(lease, acquisition)) throw lostLease(acquisition, lease, this.name);
		return lease;
	}

	/** Fails where it takes so long that the Lease might end before its holder hears of it. */
	#count(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		const late = (): Error =>
			this.#unavailable(
				`took more than ${longestCountMs / 1000} s to count for budget "${formatBudgetName(question.budget)}": is its API server slow?`,
			);
		return withinTime(this.#countNow(acquisition, reading, question), { ...this.#options, ms: longestCountMs, late });
	}

	async #countNow(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		const options = { ...this.#options, cluster: this.name };
		const counted = await countUnder(reading, question, options);
		const { count, listedAt, forgottenControllers, restored } = counted;
		await this.#markPreActivities(count);
		// Only a Lease that is new to the view, comes from a backup or has lost a controller costs this write.
		if (listedAt !== "" || forgottenControllers.size > 0 || restored) {
			const { lease: latest, result } = await this.leases.change(question.budget, (found) => {
				if (!stands(found, acquisition)) return { result: false };
				const kept = withObserved(withoutControllers(found, forgottenControllers), listedAt);
				// A Lease that was written since may say what was seen since: then the next count sees to it.
				const isAsRead = found.resourceVersion === restored?.leaseVersion;
				return { write: isAsRead ? withObservedFromRestore(kept, restored.listedAt) : kept, result: true };
			});
			if (!result) throw lostLease(acquisition, latest, this.name);
		}
		this.#commitCheck.counted(acquisition, counted);
		return count;
	}

	#withoutEvident(lease: BudgetLease): BudgetLease {
		const ids = new Set<string>();
		let observed = "";
		for (const reservation of lease.state.reservations) {
			const evidence = evidenceOf(reservation, lease.budget.namespace, this.#options.pods);
			if (evidence === undefined) continue;
			ids.add(reservation.id);
			observed = latestResourceVersion(observed, evidence);
		}
		return ids.size === 0 ? lease : withoutReservations(lease, ids, observed);
	}

	/** Tells pods whose pre-activities hold them back that somebody wants to disrupt them. */
	async #markPreActivities({ candidates }: Count): Promise<void> {
		const waiting = candidates.filter((state) => state.kind === "present" && state.preActivities.length > 0);
		const results = await Promise.allSettled(waiting.map(({ pod }) => this.#options.api.markPendingDisruption(pod)));
		for (const result of results) if (result.status === "rejected") this.#options.report?.(result.reason);
	}

	#forget(acquisition: Acquisition): void {
		const { budget, nonce } = acquisition;
		this.#handovers.end(acquisition);
		if (this.#held.get(leaseName(budget))?.nonce === nonce) this.#held.delete(leaseName(budget));
		this.#commitCheck.forget(acquisition);
	}

	#ended(acquisition: Acquisition): void {
		this.#forget(acquisition);
		this.#line.wake(leaseName(acquisition.budget));
	}

	#assertSynced(): void {
		if (!this.#options.pods.synced) throw this.#unavailable("has not finished its first list of pods");
	}

	#unavailable(state: string): AgentUnavailableError {
		return new AgentUnavailableError(`The agent of cluster "${this.name}" ${state}`, this.name);
	}
}
