// All pods that the same budgets cover, of every node and every cluster: one round after the other for all of them, and
// between the rounds a wait that ends as soon as a look at the counts says that there is room again.
import { formatBudgetName } from "../../disruption/budget.ts";
import type { BudgetState, RoundBudget } from "../../disruption/decide.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
} from "../../disruption/errors.ts";
import { cancelTicket, type Ticket } from "../../disruption/eviction.ts";
import { type RoundRuntime, runRound, type Verdict } from "../../disruption/round.ts";
import type { Waiting } from "../../disruption/verdict.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Reachability } from "../fleet/reachability.ts";
import { hasRoom } from "./availability-check.ts";
import type { ConcurrencyLimit } from "./concurrency-limit.ts";
import { type EvictionJob, evictionError, podEvent, retryAfterMs, type TryOutcome } from "./eviction-job.ts";
import type { EvictionOptions } from "./eviction-request.ts";
import { tryFreeEviction } from "./native-eviction.ts";
import { type EvictorMaker, evictWithTicket } from "./ticket-eviction.ts";
import { WaitingPod } from "./waiting-pod.ts";

export interface GroupDependencies {
	/** As it is now: its members may be others from one round to the next. */
	readonly fleet: Pick<Fleet, "members" | "memberOf">;
	readonly holder: string;
	readonly options: EvictionOptions;
	readonly evictor: EvictorMaker;
	readonly runtime: RoundRuntime;
	/** The round itself; somebody may want to watch it. */
	readonly runRound?: typeof runRound;
	readonly reachability: Reachability;
	/** Shared by all groups. */
	readonly slots: ConcurrencyLimit;
	/** No new evictions. */
	readonly stop: AbortSignal;
	readonly emit: EventSink;
}

/** The first of those that wait stand for the others. */
const maxLookedAt = 20;
/** Soon enough not to be felt, at a few cheap calls a second and budget. */
const lookEveryMs = 300;
/** A look can be wrong in either direction; a round says how it is. */
const roundAtLeastEveryMs = 10_000;
/** After an agent without an answer, and after a round that was lost: others have a turn. */
const afterFailureMs = 1_000;
const gatherForMs = 250;
const afterLostMs = 50;
/** Rounds that come to nothing again and again are further and further apart. */
const lostAtMostEveryMs = 5_000;

export class BudgetGroup {
	readonly #budgets: readonly RoundBudget[];
	readonly #names: readonly string[];
	readonly #deps: GroupDependencies;
	/** By the pod's uid. */
	readonly #waiting = new Map<string, WaitingPod>();
	/** Tickets being used or given back. */
	readonly #background = new Set<Promise<void>>();
	#wake = new AbortController();
	#running: Promise<void> | undefined;
	/** By the names of budgets: their states as they were told last. */
	readonly #told = new Map<string, string>();
	/** The last round had to wait for others. */
	#contended = false;
	/** Rounds in a row that were lost. */
	#lost = 0;
	/** A look said that the next round would do something. */
	#promised = false;
	/** Such rounds in a row that granted nothing. */
	#fruitless = 0;

	constructor(budgets: readonly RoundBudget[], deps: GroupDependencies) {
		this.#budgets = budgets;
		this.#names = budgets.map(({ name }) => formatBudgetName(name));
		this.#deps = deps;
	}

	/** How many pods wait for a grant. */
	get waiting(): number {
		return this.#waiting.size;
	}

	/** One try for a pod: resolves when its eviction was accepted, or when nothing more can be done here. */
	async tryEviction(job: EvictionJob): Promise<TryOutcome> {
		const member = this.#deps.fleet.memberOf(job.context.name);
		if (!member) throw new Error(`context ${job.context.name} has a covered pod but is no member of the fleet`);
		const entry = new WaitingPod(job, member.id, this.#deps.stop);
		if (!entry.over.aborted) {
			const { uid } = job.pod;
			this.#waiting.set(uid, entry);
			const leave = (): void => {
				if (this.#waiting.get(uid) === entry) this.#waiting.delete(uid);
			};
			entry.over.addEventListener("abort", leave, { once: true });
			this.#wake.abort();
			this.#start();
		}
		return entry.outcome;
	}

	/** Resolves when nothing that this group began is under way any more. */
	async settled(): Promise<void> {
		await this.#running;
		await Promise.all(this.#background);
	}

	#start(): void {
		this.#running ??= this.#run()
			.catch((error: unknown) => {
				// A bug: whoever waits here has to hear of it.
				for (const entry of this.#waiting.values()) entry.fail(error);
			})
			.finally(() => {
				this.#running = undefined;
				if (this.#waiting.size > 0) this.#start();
			});
	}

	async #run(): Promise<void> {
		// Pods whose budgets came with the same list go into the same round.
		await this.#pause(0);
		while (this.#waiting.size > 0) {
			this.#wake = new AbortController();
			if (this.#contended) await this.#untilBack();
			const due = this.#due();
			if (due.length === 0) {
				const next = Math.min(...[...this.#waiting.values()].map(({ dueAt }) => dueAt));
				await this.#pause(next - this.#deps.runtime.now(), this.#wake.signal);
				continue;
			}
			const asked = this.#withSlots(due);
			if (asked.length === 0) {
				await this.#untilFreed();
				continue;
			}
			const left = await this.#ask(asked);
			if (left.length === 0) continue;
			if (due.length > asked.length) this.#sendToTheEnd(left);
			await this.#untilRoom();
		}
	}

	/** Until there is a slot, or a pod that may have one elsewhere: another one came, or its time has. */
	async #untilFreed(): Promise<void> {
		const { slots, stop, runtime } = this.#deps;
		const over = new AbortController();
		const ends = AbortSignal.any([stop, this.#wake.signal, over.signal]);
		const later = [...this.#waiting.values()].map(({ dueAt }) => dueAt).filter((dueAt) => dueAt > runtime.now());
		const freed = slots.freed(ends);
		const due = later.length > 0 ? runtime.sleep(Math.min(...later) - runtime.now(), ends) : freed;
		await Promise.race([freed, due]);
		over.abort();
		await Promise.all([freed, due]);
	}

	/** Until those on their way are done, but not for long: where rounds have to wait for others, few are to ask for many. */
	async #untilBack(): Promise<void> {
		const back = new AbortController();
		void Promise.all(this.#background).finally(() => back.abort());
		await this.#pause(gatherForMs, back.signal);
	}

	/** The first of each context, as many as may be granted now. */
	#withSlots(due: readonly WaitingPod[]): readonly WaitingPod[] {
		const byContext = Map.groupBy(due, ({ job }) => job.context.name);
		const first = new Set(
			[...byContext].flatMap(([context, entries]) => entries.slice(0, this.#deps.slots.ask(context, entries.length))),
		);
		return due.filter((entry) => first.has(entry));
	}

	/** One round; those that wait on, unless there was no answer to apply. */
	async #ask(asked: readonly WaitingPod[]): Promise<readonly WaitingPod[]> {
		let verdicts: readonly Verdict[] | undefined;
		const { members } = this.#deps.fleet;
		try {
			verdicts = await this.#round(asked, members);
			for (const verdict of verdicts ?? []) this.#apply(verdict, members);
		} finally {
			const byContext = Map.groupBy(asked, ({ job }) => job.context.name);
			for (const [context, { length }] of byContext) this.#deps.slots.answered(context, length);
		}
		if (verdicts?.some(({ kind }) => kind === "granted")) this.#fruitless = 0;
		else if (this.#promised) this.#fruitless += 1;
		this.#promised = false;
		const now = this.#deps.runtime.now();
		return verdicts
			? asked.filter((entry) => this.#waiting.get(entry.job.pod.uid) === entry && entry.dueAt <= now)
			: [];
	}

	/** So that more pods than a round takes have their turn in the next one. */
	#sendToTheEnd(left: readonly WaitingPod[]): void {
		for (const entry of left) {
			if (this.#waiting.delete(entry.job.pod.uid)) this.#waiting.set(entry.job.pod.uid, entry);
		}
	}

	#due(): readonly WaitingPod[] {
		const now = this.#deps.runtime.now();
		return [...this.#waiting.values()].filter(({ dueAt }) => dueAt <= now);
	}

	/** Undefined where there is nothing to apply: start over. */
	async #round(due: readonly WaitingPod[], members: readonly AgentCluster[]): Promise<readonly Verdict[] | undefined> {
		const { holder, stop, runtime, reachability, emit, runRound: run = runRound } = this.#deps;
		const contended = this.#contended;
		this.#contended = false;
		try {
			const outcome = await run(
				{
					clusters: members,
					budgets: this.#budgets,
					holder,
					candidates: due.map(({ clusterId, job }) => ({ clusterId, pod: job.pod })),
					signal: stop,
					contended,
					onCounted: (states) => this.#tellStates(states),
					onQueued: ({ budget, cluster, holder: heldBy, position, heldForMs }) => {
						this.#contended = true;
						emit({
							type: "lease.waiting",
							budget: formatBudgetName(budget),
							cluster,
							holder: heldBy,
							position,
							heldForMs,
						});
					},
				},
				runtime,
			);
			reachability.answered();
			if (outcome.kind === "decided") {
				this.#lost = 0;
				return outcome.verdicts;
			}
			await this.#pause(Math.min(afterLostMs * 2 ** this.#lost, lostAtMostEveryMs));
			this.#lost += 1;
		} catch (error) {
			if (stop.aborted) return undefined;
			await this.#failRound(error, due);
		}
		return undefined;
	}

	async #failRound(error: unknown, due: readonly WaitingPod[]): Promise<void> {
		if (error instanceof AgentUnavailableError) {
			for (const entry of due) entry.waitedFor = { message: error.message, reason: "PeerUnreachable" };
			this.#deps.reachability.failed(error);
			await this.#pause(afterFailureMs);
		} else if (error instanceof GarbledLeaseError || error instanceof FleetsDifferError) {
			for (const entry of due) this.#tryLater(entry, error);
		} else if (error instanceof AgentForbiddenError || error instanceof AgentProtocolError) {
			for (const entry of due) entry.finish({ kind: "agentRefused", message: error.message });
		} else {
			throw error;
		}
	}

	#apply(verdict: Verdict, members: readonly AgentCluster[]): void {
		const entry = this.#waiting.get(verdict.candidate.pod.uid);
		if (verdict.kind === "granted") {
			this.#use(verdict.ticket, entry, members);
		} else if (entry && verdict.kind === "free") {
			const { why } = verdict;
			if (why === "Gone") entry.finish({ kind: "gone" });
			else this.#handOver(entry, () => tryFreeEviction(entry.job, why, this.#deps));
		} else if (entry && verdict.kind === "waiting") {
			if (verdict.reason === "CoverageChanged") entry.finish({ kind: "again", afterMs: 0 });
			else this.#tellWaiting(entry, verdict);
		} else if (entry && verdict.kind === "refused") {
			const { message, reason } = verdict;
			// Its members have to be asked who they are.
			if (reason === "FleetsDiffer") entry.finish({ kind: "again", afterMs: 0, reason, message });
			else if (verdict.retry) this.#tryLater(entry, verdict);
			else entry.finish({ kind: "failed", message: evictionError(entry.job, message), reason, unreachable: false });
		}
	}

	/** After what somebody has to put right, which may happen at any time. */
	#tryLater(entry: WaitingPod, { reason, message }: { readonly reason: Reason; readonly message: string }): void {
		this.#tellWaiting(entry, { reason, message, usedBy: [] }, retryAfterMs);
		entry.dueAt = this.#deps.runtime.now() + retryAfterMs;
	}

	/** Evicts while the next round goes on; a pod that nobody waits for any more is given back. */
	#use(ticket: Ticket, entry: WaitingPod | undefined, members: readonly AgentCluster[]): void {
		const { runtime, stop, emit, reachability, evictor } = this.#deps;
		const cluster = members.find(({ id }) => id === ticket.clusterId);
		if (!cluster) throw new Error(`a ticket for cluster ${ticket.clusterId}, which is no member`);
		const giveBack = (): Promise<void> => cancelTicket(ticket, cluster, runtime, { sent: false });
		if (!entry) {
			this.#keepTrack(giveBack());
			return;
		}
		const onUnavailable = (error: AgentUnavailableError): void => reachability.failed(error);
		const made = evictor(entry.job, this.#names);
		this.#handOver(
			entry,
			() => evictWithTicket(entry.job, ticket, { cluster, evictor: made, runtime, stop, emit, onUnavailable }),
			giveBack,
		);
	}

	/**
	 * Sends when there is a slot for it; `giveUp` where a stop or a timeout was first. Once it is sent only the answer counts:
	 * it can't be taken back.
	 */
	#handOver(entry: WaitingPod, send: () => Promise<TryOutcome>, giveUp?: () => Promise<void>): void {
		const { slots } = this.#deps;
		const { name } = entry.job.context;
		this.#waiting.delete(entry.job.pod.uid);
		const sending = async (): Promise<void> => {
			const mayGo = await slots.take(name, entry.over);
			if (entry.over.aborted) {
				if (mayGo) slots.giveBack(name);
				await giveUp?.();
				return;
			}
			entry.detach();
			try {
				entry.finish(await send());
			} catch (error) {
				entry.fail(error);
			} finally {
				slots.giveBack(name);
			}
		};
		this.#keepTrack(sending());
	}

	#keepTrack(work: Promise<void>): void {
		const tracked = work.finally(() => this.#background.delete(tracked));
		this.#background.add(tracked);
	}

	/** Until a look says that somebody could be granted, another pod comes, or it is time for a round anyway. */
	async #untilRoom(): Promise<void> {
		const { fleet, runtime, stop, reachability } = this.#deps;
		const wake = this.#wake.signal;
		const until = runtime.now() + roundAtLeastEveryMs;
		while (!wake.aborted && !stop.aborted && runtime.now() < until) {
			await this.#pause(Math.min(lookEveryMs * 2 ** this.#fruitless, roundAtLeastEveryMs), wake);
			const due = this.#due().slice(0, maxLookedAt);
			if (wake.aborted || stop.aborted || due.length === 0) return;
			try {
				const candidates = due.map(({ clusterId, job }) => ({ clusterId, pod: job.pod }));
				this.#promised = await hasRoom(fleet.members, this.#budgets, candidates);
				if (this.#promised) return;
				reachability.answered();
			} catch (error) {
				await this.#failRound(error, due);
			}
		}
	}

	async #pause(ms: number, wake?: AbortSignal): Promise<void> {
		const { runtime, stop } = this.#deps;
		await runtime.sleep(Math.max(0, ms), wake ? AbortSignal.any([stop, wake]) : stop);
	}

	#tellStates(states: readonly BudgetState[]): void {
		for (const { budget, ...state } of states) {
			const name = formatBudgetName(budget);
			const text = JSON.stringify(state);
			if (this.#told.get(name) === text) continue;
			this.#told.set(name, text);
			this.#deps.emit({ type: "budget.changed", budget: name, ...state });
		}
	}

	#tellWaiting(
		entry: WaitingPod,
		waiting: Omit<Waiting, "kind" | "reason"> & { readonly reason: Reason },
		retryAfter = lookEveryMs,
	): void {
		const { reason, message, budget, need, healthy, expected, usedBy } = waiting;
		entry.waitedFor = { message, reason };
		this.#deps.emit({
			type: "pod.waiting",
			...podEvent(entry.job),
			reason,
			message,
			...(budget && { budget: formatBudgetName(budget) }),
			...(need !== undefined && { need }),
			...(healthy !== undefined && { healthy }),
			...(expected !== undefined && { expected }),
			retryAfterMs: retryAfter,
			usedBy: usedBy.map(({ name, ...used }) => ({ ...used, pod: name })),
		});
	}
}
