// The rounds for the pods of one queue: one after the other for all that wait, and between them a wait that ends as soon as a
// look at the counts says that the budgets allow a disruption again.
import { formatBudgetName } from "../../disruption/budget.ts";
import type { Judgement, RoundBudget } from "../../disruption/decide.ts";
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	isAgentRefusal,
} from "../../disruption/errors.ts";
import { type CurrentBudgets, cancelTicket, type Ticket } from "../../disruption/eviction.ts";
import { type RoundRuntime, runRound, type Verdict } from "../../disruption/round.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { EventSink } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Reachability } from "../fleet/reachability.ts";
import { checkAvailability, isWorthARound } from "./availability-check.ts";
import type { ConcurrencyLimit } from "./concurrency-limit.ts";
import type { EvictionJob } from "./eviction-job.ts";
import { EvictionQueue } from "./eviction-queue.ts";
import type { EvictionOptions } from "./eviction-request.ts";
import type { EvictorMaker } from "./evictor.ts";
import { GrantedEvictions } from "./granted-evictions.ts";
import { tryFreeEviction } from "./native-eviction.ts";
import { failedPod } from "./pod-outcome.ts";
import { evictWithTicket } from "./ticket-eviction.ts";
import { ToldStates } from "./told-states.ts";
import { retryAfterMs, type TryOutcome } from "./try-outcome.ts";
import { isSameWait, type Wait, waitingEvent, waitOf } from "./waiting-event.ts";
import { allOver, WaitingPod } from "./waiting-pod.ts";

export interface RoundsDependencies {
	/** As it is now: its members may be others from one round to the next. */
	readonly fleet: Pick<Fleet, "members" | "memberOf">;
	/** The budgets by which grants that have become too old are confirmed. */
	readonly currentBudgets: CurrentBudgets;
	readonly holder: string;
	readonly options: EvictionOptions;
	readonly evictor: EvictorMaker;
	readonly runtime: RoundRuntime;
	/** The round itself; somebody may want to watch it. */
	readonly runRound?: typeof runRound;
	readonly reachability: Reachability;
	/** Shared by the rounds of all budgets. */
	readonly limit: ConcurrencyLimit;
	/** No new evictions. */
	readonly stop: AbortSignal;
	readonly emit: EventSink;
}

/** The first of those that wait stand for the others. */
const maxLookedAt = 20;
/** Soon enough not to be felt, at a few cheap calls a second and budget; of a long wait a tenth, at one call in two seconds and member. */
const lookEveryMs = { first: 300, most: 2_000, ofWait: 1 / 10 };
/** A look can be wrong in either direction; a round says how it is. */
const roundAtLeastEveryMs = 10_000;
/** After an agent without an answer, and after a round that was lost: others have a turn. */
const afterFailureMs = 1_000;
const gatherForMs = 250;
const afterLostMs = 50;
/** Rounds that come to nothing again and again are further and further apart. */
const lostAtMostEveryMs = 5_000;

type Look = Awaited<ReturnType<typeof checkAvailability>>;

export class EvictionRounds {
	readonly #budgets: readonly RoundBudget[];
	readonly #names: readonly string[];
	readonly #deps: RoundsDependencies;
	readonly #queue = new EvictionQueue();
	readonly #granted: GrantedEvictions;
	#running: Promise<void> | undefined;
	readonly #told: ToldStates;
	/** The last round had to wait for others. */
	#contended = false;
	/** Rounds in a row that were lost. */
	#lost = 0;
	/** A look said that the next round would do something. */
	#promised = false;
	/** Such rounds in a row that granted nothing. */
	#fruitless = 0;
	/** When waiting began, of those in the queue, since the last grant. */
	#waitingSince: number | undefined;

	/** `budgets`: all that cover the pods that will be brought here. */
	constructor(budgets: readonly RoundBudget[], deps: RoundsDependencies) {
		this.#budgets = budgets;
		this.#names = budgets.map(({ name }) => formatBudgetName(name));
		this.#deps = deps;
		this.#granted = new GrantedEvictions(deps.limit);
		this.#told = new ToldStates(deps.emit);
	}

	/** One try for a pod: resolves when its eviction was accepted, or when nothing more can be done here. */
	async tryEviction(job: EvictionJob): Promise<TryOutcome> {
		const member = this.#deps.fleet.memberOf(job.context.name);
		if (!member) throw new Error(`context ${job.context.name} has a covered pod but is no member of the fleet`);
		const pod = new WaitingPod(job, member.id, this.#deps.stop);
		if (!pod.over.aborted) {
			// Those who waited before have left.
			if (this.#queue.size === 0) this.#waitingSince = undefined;
			this.#queue.add(pod);
			this.#start();
		}
		return pod.outcome;
	}

	/** Resolves when nothing that began here is under way any more. */
	async settled(): Promise<void> {
		await this.#running;
		await this.#granted.settled();
	}

	#start(): void {
		this.#running ??= this.#run()
			// A bug: whoever waits here has to hear of it.
			.catch((error: unknown) => this.#queue.fail(error))
			.finally(() => {
				this.#running = undefined;
				if (this.#queue.size > 0) this.#start();
			});
	}

	async #run(): Promise<void> {
		// Pods whose budgets came with the same list go into the same round.
		await this.#pause(0);
		while (this.#queue.size > 0) {
			const arrival = this.#queue.nextArrival();
			if (this.#contended) await this.#untilBack();
			const { runtime } = this.#deps;
			const due = this.#queue.due(runtime.now());
			if (due.length === 0) {
				const now = runtime.now();
				await this.#pause((this.#queue.nextDueAt(now) ?? now) - now, this.#orStop(arrival));
				continue;
			}
			const asked = this.#withinLimit(due);
			if (asked.length === 0) {
				if (this.#deps.limit.isPaused) await this.#lookOn(due, arrival);
				else await this.#untilFreed(arrival);
				continue;
			}
			const left = await this.#ask(asked);
			if (left.length === 0) continue;
			if (due.length > asked.length) this.#queue.sendToTheEnd(left);
			await this.#untilAvailable(arrival);
		}
	}

	/** Until there is a place, or a pod that may have one elsewhere: another one came, or its time has. */
	async #untilFreed(arrival: AbortSignal, at = this.#queue.nextDueAt(this.#deps.runtime.now())): Promise<void> {
		const { limit, stop, runtime } = this.#deps;
		const over = new AbortController();
		const ends = AbortSignal.any([stop, arrival, over.signal]);
		const freed = limit.freed(ends);
		const due = at === undefined ? freed : runtime.sleep(at - runtime.now(), ends);
		await Promise.race([freed, due]);
		over.abort("no longer needed");
		await Promise.all([freed, due]);
	}

	/** Until those on their way are done, but not for long: where rounds have to wait for others, few are to ask for many. */
	async #untilBack(): Promise<void> {
		const back = new AbortController();
		void this.#granted.settled().finally(() => back.abort("all are back"));
		await this.#pause(gatherForMs, this.#orStop(back.signal));
	}

	/** The first of each context, as many as may be granted now. */
	#withinLimit(due: readonly WaitingPod[]): readonly WaitingPod[] {
		const byContext = Map.groupBy(due, ({ job }) => job.context.name);
		const first = new Set(
			[...byContext].flatMap(([context, pods]) => pods.slice(0, this.#deps.limit.ask(context, pods.length))),
		);
		return due.filter((pod) => first.has(pod));
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
			for (const [context, { length }] of byContext) this.#deps.limit.answered(context, length);
		}
		if (verdicts?.some(({ kind }) => kind === "granted")) {
			this.#fruitless = 0;
			this.#waitingSince = undefined;
		} else if (this.#promised) this.#fruitless += 1;
		this.#promised = false;
		const now = this.#deps.runtime.now();
		return verdicts ? asked.filter((pod) => this.#queue.has(pod) && pod.dueAt <= now) : [];
	}

	/** Undefined where there is nothing to apply: start over. */
	async #round(
		asked: readonly WaitingPod[],
		members: readonly AgentCluster[],
	): Promise<readonly Verdict[] | undefined> {
		const { holder, stop, runtime, reachability, emit, runRound: run = runRound } = this.#deps;
		const contended = this.#contended;
		this.#contended = false;
		const signal = AbortSignal.any([stop, allOver(asked)]);
		try {
			const outcome = await run(
				{
					clusters: members,
					budgets: this.#budgets,
					holder,
					candidates: asked.map(({ candidate }) => candidate),
					signal,
					contended,
					onCounted: (states) => this.#told.tell(states),
					onQueued: ({ budget, cluster, holder: heldBy, position, heldForMs }) => {
						this.#contended = true;
						const name = formatBudgetName(budget);
						const message = `${heldBy} holds the lease of budget ${name} in cluster ${cluster}`;
						const held: Wait = { reason: "LeaseHeld", budget: name, message };
						if (heldBy !== "") for (const pod of asked) pod.waitedFor = held;
						emit({
							type: "lease.waiting",
							budget: name,
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
			// Somebody else is at it: in line, one after the other.
			this.#contended = true;
			await this.#pause(Math.min(afterLostMs * 2 ** this.#lost, lostAtMostEveryMs));
			this.#lost += 1;
		} catch (error) {
			if (signal.aborted) return undefined;
			await this.#failRound(error, asked);
		}
		return undefined;
	}

	async #failRound(error: unknown, asked: readonly WaitingPod[]): Promise<void> {
		if (error instanceof AgentUnavailableError) {
			for (const pod of asked) pod.waitedFor = { message: error.message, reason: "PeerUnreachable" };
			this.#deps.reachability.failed(error);
			await this.#pause(afterFailureMs);
		} else if (error instanceof GarbledLeaseError || error instanceof FleetsDifferError) {
			for (const pod of asked) this.#tryLater(pod, error);
		} else if (isAgentRefusal(error)) {
			for (const pod of asked) pod.finish({ kind: "agentRefused", message: error.message });
		} else {
			throw error;
		}
	}

	#apply(verdict: Verdict, members: readonly AgentCluster[]): void {
		const pod = this.#queue.find(verdict.candidate.pod.uid);
		if (verdict.kind === "granted") {
			this.#use(verdict.ticket, pod, members);
		} else if (pod && verdict.kind === "free") {
			if (verdict.why === "Gone") pod.finish({ kind: "gone" });
			else this.#send(pod, () => tryFreeEviction(pod.job, this.#deps));
		} else if (pod && verdict.kind === "waiting") {
			if (verdict.reason === "CoverageChanged") pod.finish({ kind: "again", afterMs: 0 });
			else this.#tellWaiting(pod, waitOf(pod.job, verdict, this.#deps.holder), this.#nextLookMs());
		} else if (pod && verdict.kind === "refused") {
			const { message, reason } = verdict;
			// Its members have to be asked who they are.
			if (reason === "FleetsDiffer") pod.finish({ kind: "again", afterMs: 0, reason, message });
			else if (verdict.retry) this.#tryLater(pod, verdict);
			else pod.finish(failedPod(pod.job, verdict));
		}
	}

	/** After what somebody has to put right, which may happen at any time. */
	#tryLater(pod: WaitingPod, { reason, message }: Pick<Wait, "reason" | "message">): void {
		this.#tellWaiting(pod, { reason, message }, retryAfterMs);
		pod.dueAt = this.#deps.runtime.now() + retryAfterMs;
	}

	/** Evicts while the next round goes on; a grant for which nobody waits any more is given back. */
	#use(ticket: Ticket, pod: WaitingPod | undefined, members: readonly AgentCluster[]): void {
		const { runtime, reachability, evictor } = this.#deps;
		const cluster = members.find(({ id }) => id === ticket.clusterId);
		if (!cluster) throw new Error(`a ticket for cluster ${ticket.clusterId}, which is no member`);
		// The next count is told even if it is the same: by then that pod has been replaced.
		this.#told.forget();
		const giveBack = (): Promise<void> => cancelTicket(ticket, cluster, runtime, { sent: false });
		if (!pod) {
			this.#granted.keepTrack(giveBack());
			return;
		}
		const onUnavailable = (error: AgentUnavailableError): void => reachability.failed(error);
		const deps = { ...this.#deps, cluster, evictor: evictor(pod.job, this.#names), onUnavailable };
		this.#send(pod, () => evictWithTicket(pod.job, ticket, deps), giveBack);
	}

	#send(pod: WaitingPod, evict: () => Promise<TryOutcome>, giveUp?: () => Promise<void>): void {
		this.#queue.remove(pod);
		this.#granted.send(pod, evict, giveUp);
	}

	/** Until a look says that somebody could be granted, another pod comes, or it is time for a round anyway. */
	async #untilAvailable(arrival: AbortSignal): Promise<void> {
		const { runtime } = this.#deps;
		const until = runtime.now() + roundAtLeastEveryMs;
		const ends = this.#orStop(arrival);
		while (!ends.aborted && runtime.now() < until) {
			await this.#pause(Math.min(this.#nextLookMs() * 2 ** this.#fruitless, roundAtLeastEveryMs), ends);
			const due = this.#queue.due(runtime.now()).slice(0, maxLookedAt);
			if (ends.aborted || due.length === 0) return;
			try {
				const look = await this.#look(due);
				this.#promised = look.judgements.some(isWorthARound);
				if (this.#promised) return;
				this.#tellLook(look);
			} catch (error) {
				await this.#failRound(error, due);
			}
		}
	}

	/** Nobody is asked for while the run is paused. Whoever paused it looks at what has to change first, so that is told all the same. */
	async #lookOn(due: readonly WaitingPod[], arrival: AbortSignal): Promise<void> {
		const { limit, stop, runtime } = this.#deps;
		await this.#untilFreed(arrival, runtime.now() + this.#nextLookMs());
		if (!limit.isPaused || stop.aborted || arrival.aborted) return;
		try {
			this.#tellLook(await this.#look(due.slice(0, maxLookedAt)));
		} catch (error) {
			await this.#failRound(error, due);
		}
	}

	#look(pods: readonly WaitingPod[]): Promise<Look> {
		const candidates = pods.map(({ candidate }) => candidate);
		return checkAvailability(this.#deps.fleet.members, this.#budgets, candidates);
	}

	#tellLook({ judgements, states }: Look): void {
		this.#deps.reachability.answered();
		this.#told.tell(states);
		this.#tellChanges(judgements);
	}

	#nextLookMs(): number {
		const now = this.#deps.runtime.now();
		const waitedMs = now - (this.#waitingSince ??= now);
		return Math.min(Math.max(lookEveryMs.first, waitedMs * lookEveryMs.ofWait), lookEveryMs.most);
	}

	#orStop(wake: AbortSignal): AbortSignal {
		return AbortSignal.any([this.#deps.stop, wake]);
	}

	async #pause(ms: number, ends = this.#deps.stop): Promise<void> {
		await this.#deps.runtime.sleep(Math.max(0, ms), ends);
	}

	/** Who keeps a pod waiting may be others now, without a round having been worth it. */
	#tellChanges(judgements: readonly Judgement[]): void {
		const byBudget = new Map<string | undefined, Wait>();
		for (const judgement of judgements) {
			if (judgement.kind !== "waiting") continue;
			const pod = this.#queue.find(judgement.candidate.pod.uid);
			if (!pod) continue;
			const wait = waitOf(pod.job, judgement, this.#deps.holder);
			if (wait.budget !== undefined) byBudget.set(wait.budget, wait);
			if (pod.waitedFor && isSameWait(wait, pod.waitedFor)) pod.waitedFor = wait;
			else this.#tellWaiting(pod, wait, this.#nextLookMs());
		}
		// Those that were not looked at wait for the same.
		for (const pod of this.#queue.all()) pod.waitedFor = byBudget.get(pod.waitedFor?.budget) ?? pod.waitedFor;
	}

	#tellWaiting(pod: WaitingPod, wait: Wait, nextLookMs: number): void {
		pod.waitedFor = wait;
		this.#deps.emit(waitingEvent(pod.job, wait, nextLookMs));
	}
}
