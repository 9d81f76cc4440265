// The rounds for all that wait under the same budgets: one after the other, and between them a wait that ends as soon as a look at
// the counts says that the budgets allow a disruption again.
import { checkAvailability, isWorthARound } from "./availability.ts";
import { formatBudgetName } from "./budget.ts";
import { askAgainAfterMs, classifyFailure, retryAfterMs } from "./classify-failure.ts";
import type { Member } from "./cluster.ts";
import type { Judgement, RoundBudget } from "./decide.ts";
import { AgentUnavailableError } from "./errors.ts";
import { cancelTicket, type Ticket } from "./eviction.ts";
import type { GrantAnswer, GrantObserver, GrantPorts, GrantRequest } from "./grant-request.ts";
import type { Place } from "./places.ts";
import { runRound, type Verdict } from "./round.ts";
import { isSameWait, leaseHeld, type Wait } from "./wait.ts";
import { allOver, WaitingRequest, WaitingRequests } from "./waiting-requests.ts";

/** The first of those that wait stand for the others. */
const maxLookedAt = 20;
/** Soon enough not to be felt, at a few cheap calls a second and budget; of a long wait a tenth, at one call in two seconds and member. */
const lookEveryMs = { first: 300, most: 2_000, ofWait: 1 / 10 };
/** A look can be wrong in either direction; a round says how it is. */
const roundAtLeastEveryMs = 10_000;
const gatherForMs = 250;
const afterLostMs = 50;
/** Rounds that come to nothing again and again are further and further apart. */
const lostAtMostEveryMs = 5_000;

type Look = Awaited<ReturnType<typeof checkAvailability>>;

export class GrantRounds {
	readonly #budgets: readonly RoundBudget[];
	readonly #ports: GrantPorts;
	readonly #observer: GrantObserver;
	readonly #waiting = new WaitingRequests();
	/** Grants being used or given back. */
	readonly #underWay = new Set<Promise<void>>();
	#running: Promise<void> | undefined;
	/** The last round had to wait for others. */
	#contended = false;
	/** Rounds in a row that were lost. */
	#lost = 0;
	/** A look said that the next round would do something. */
	#promised = false;
	/** Such rounds in a row that granted nothing. */
	#fruitless = 0;
	/** When waiting began, of those in the line, since the last grant. */
	#waitingSince: number | undefined;

	/** `budgets`: all that cover the pods that will be asked for here. */
	constructor(budgets: readonly RoundBudget[], ports: GrantPorts) {
		this.#budgets = budgets;
		this.#ports = ports;
		this.#observer = ports.observe();
	}

	ask(request: GrantRequest): Promise<GrantAnswer> {
		const waiting = new WaitingRequest(request);
		if (!waiting.over.aborted) {
			// Those who waited before have left.
			if (this.#waiting.size === 0) this.#waitingSince = undefined;
			this.#waiting.add(waiting);
			this.#start();
		}
		return waiting.answer;
	}

	/** Resolves when nothing that began here is under way any more. */
	async settled(): Promise<void> {
		await this.#running;
		await this.#back();
	}

	#start(): void {
		this.#running ??= this.#run()
			// A bug: whoever waits here has to hear of it.
			.catch((error: unknown) => this.#waiting.fail(error))
			.finally(() => {
				this.#running = undefined;
				if (this.#waiting.size > 0) this.#start();
			});
	}

	async #run(): Promise<void> {
		const { runtime, places } = this.#ports;
		// Pods whose budgets came with the same list go into the same round.
		await this.#pause(0);
		while (this.#waiting.size > 0) {
			const arrival = this.#waiting.nextArrival();
			if (this.#contended) await this.#untilBack();
			const due = this.#waiting.due(runtime.now());
			if (due.length === 0) {
				const now = runtime.now();
				await this.#pause((this.#waiting.nextDueAt(now) ?? now) - now, this.#orStop(arrival));
				continue;
			}
			const asked = this.#withinPlaces(due);
			if (asked.length === 0) {
				if (places.isPaused) await this.#lookOn(due, arrival);
				else await this.#untilFreed(arrival);
				continue;
			}
			const left = await this.#ask(asked);
			if (left.length === 0) continue;
			if (due.length > asked.length) this.#waiting.sendToTheEnd(left);
			await this.#untilAvailable(arrival);
		}
	}

	/** Until there is a place, or a pod that may have one elsewhere: another one came, or its time has. */
	async #untilFreed(arrival: AbortSignal, at = this.#waiting.nextDueAt(this.#ports.runtime.now())): Promise<void> {
		const { places, stop, runtime } = this.#ports;
		const over = new AbortController();
		const ends = AbortSignal.any([stop, arrival, over.signal]);
		const freed = places.freed(ends);
		const due = at === undefined ? freed : runtime.sleep(at - runtime.now(), ends);
		await Promise.race([freed, due]);
		over.abort("no longer needed");
		await Promise.all([freed, due]);
	}

	/** Until those on their way are done, but not for long: where rounds have to wait for others, few are to ask for many. */
	async #untilBack(): Promise<void> {
		const back = new AbortController();
		void this.#back().finally(() => back.abort("all are back"));
		await this.#pause(gatherForMs, this.#orStop(back.signal));
	}

	async #back(): Promise<void> {
		await Promise.all(this.#underWay);
	}

	/** The first of each lane, as many as may be granted now. */
	#withinPlaces(due: readonly WaitingRequest[]): readonly WaitingRequest[] {
		const byLane = Map.groupBy(due, ({ request }) => request.lane);
		const first = new Set(
			[...byLane].flatMap(([lane, some]) => some.slice(0, this.#ports.places.ask(lane, some.length))),
		);
		return due.filter((waiting) => first.has(waiting));
	}

	/** One round; those that wait on, unless there was no answer to apply. */
	async #ask(asked: readonly WaitingRequest[]): Promise<readonly WaitingRequest[]> {
		let verdicts: readonly Verdict[] | undefined;
		const members = this.#ports.members();
		try {
			verdicts = await this.#round(asked, members);
			for (const verdict of verdicts ?? []) this.#apply(verdict, members);
		} finally {
			const byLane = Map.groupBy(asked, ({ request }) => request.lane);
			for (const [lane, { length }] of byLane) this.#ports.places.answered(lane, length);
		}
		if (verdicts?.some(({ kind }) => kind === "granted")) {
			this.#fruitless = 0;
			this.#waitingSince = undefined;
		} else if (this.#promised) this.#fruitless += 1;
		this.#promised = false;
		const now = this.#ports.runtime.now();
		return verdicts ? asked.filter((waiting) => this.#waiting.has(waiting) && waiting.dueAt <= now) : [];
	}

	/** Undefined where there is nothing to apply: start over. */
	async #round(asked: readonly WaitingRequest[], members: readonly Member[]): Promise<readonly Verdict[] | undefined> {
		const { holder, stop, runtime, runRound: run = runRound } = this.#ports;
		const contended = this.#contended;
		this.#contended = false;
		const signal = AbortSignal.any([stop, allOver(asked)]);
		try {
			const outcome = await run(
				{
					clusters: members,
					budgets: this.#budgets,
					holder,
					candidates: asked.map(({ request }) => request.candidate),
					signal,
					contended,
					onCounted: (states) => this.#observer.counted(states),
					onQueued: (place) => {
						this.#contended = true;
						if (place.holder !== "") for (const waiting of asked) waiting.last = leaseHeld(place);
						this.#observer.queued(place);
					},
				},
				runtime,
			);
			this.#observer.answered();
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
			await this.#fail(error, asked);
		}
		return undefined;
	}

	async #fail(error: unknown, asked: readonly WaitingRequest[]): Promise<void> {
		const failure = classifyFailure(error);
		if (!failure) throw error;
		const { kind, reason, message } = failure;
		if (kind === "refuse") for (const waiting of asked) waiting.finish({ kind: "refused", reason, message });
		else if (error instanceof AgentUnavailableError) {
			for (const waiting of asked) waiting.last = { reason, message };
			this.#observer.unreachable(error);
			await this.#pause(askAgainAfterMs);
		} else for (const waiting of asked) this.#later(waiting, { reason, message });
	}

	#apply(verdict: Verdict, members: readonly Member[]): void {
		const waiting = this.#waiting.find(verdict.candidate.pod.uid);
		switch (verdict.kind) {
			case "granted":
				return this.#grant(verdict.ticket, waiting, members);
			case "free": {
				const { kind, why } = verdict;
				waiting?.finish({ kind, why, place: this.#place(waiting.request.lane) });
				return;
			}
			case "waiting":
				if (verdict.reason === "CoverageChanged") waiting?.finish({ kind: "coverAgain" });
				else if (waiting) this.#tell(waiting, verdict, this.#nextLookMs());
				return;
			case "refused": {
				const { reason, message } = verdict;
				// Its members have to be asked who they are.
				if (reason === "FleetsDiffer") waiting?.finish({ kind: "coverAgain", reason, message });
				else if (!verdict.retry) waiting?.finish({ kind: "refused", reason, message });
				else if (waiting) this.#later(waiting, { reason, message });
			}
		}
	}

	/** Used while the next round goes on; a grant for which nobody waits any more is given back. */
	#grant(ticket: Ticket, waiting: WaitingRequest | undefined, members: readonly Member[]): void {
		const member = members.find(({ id }) => id === ticket.clusterId);
		if (!member) throw new Error(`a ticket for cluster ${ticket.clusterId}, which is no member`);
		this.#observer.granted();
		const cancel = (): Promise<void> => cancelTicket(ticket, member, this.#ports.runtime, { sent: false });
		if (!waiting) {
			this.#keepTrack(cancel());
			return;
		}
		const place = this.#place(waiting.request.lane);
		const { last } = waiting;
		const giveBack = (): Promise<void> => {
			const cancelled = cancel();
			this.#keepTrack(cancelled);
			place.end();
			return cancelled;
		};
		waiting.finish({ kind: "granted", grant: { ...place, ticket, member, giveBack }, ...(last && { last }) });
	}

	/** From this very moment on, and under way until it is ended. */
	#place(lane: string): Place {
		const place = this.#ports.places.keep(lane);
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#keepTrack(promise);
		return {
			...place,
			end() {
				place.end();
				resolve();
			},
		};
	}

	#keepTrack(work: Promise<void>): void {
		const tracked = work.finally(() => this.#underWay.delete(tracked));
		this.#underWay.add(tracked);
	}

	/** After what somebody has to put right, which may happen at any time. */
	#later(waiting: WaitingRequest, wait: Wait): void {
		this.#tell(waiting, wait, retryAfterMs);
		waiting.dueAt = this.#ports.runtime.now() + retryAfterMs;
	}

	/** Until a look says that somebody could be granted, another pod comes, or it is time for a round anyway. */
	async #untilAvailable(arrival: AbortSignal): Promise<void> {
		const { runtime } = this.#ports;
		const until = runtime.now() + roundAtLeastEveryMs;
		const ends = this.#orStop(arrival);
		while (!ends.aborted && runtime.now() < until) {
			await this.#pause(Math.min(this.#nextLookMs() * 2 ** this.#fruitless, roundAtLeastEveryMs), ends);
			const due = this.#waiting.due(runtime.now()).slice(0, maxLookedAt);
			if (ends.aborted || due.length === 0) return;
			try {
				const look = await this.#look(due);
				this.#promised = look.judgements.some(isWorthARound);
				if (this.#promised) return;
				this.#tellLook(look);
			} catch (error) {
				await this.#fail(error, due);
			}
		}
	}

	/** Nobody is asked for while the run is paused. Whoever paused it looks at what has to change first, so that is told all the same. */
	async #lookOn(due: readonly WaitingRequest[], arrival: AbortSignal): Promise<void> {
		const { places, stop, runtime } = this.#ports;
		await this.#untilFreed(arrival, runtime.now() + this.#nextLookMs());
		if (!places.isPaused || stop.aborted || arrival.aborted) return;
		try {
			this.#tellLook(await this.#look(due.slice(0, maxLookedAt)));
		} catch (error) {
			await this.#fail(error, due);
		}
	}

	#look(some: readonly WaitingRequest[]): Promise<Look> {
		const candidates = some.map(({ request }) => request.candidate);
		return checkAvailability(this.#ports.members(), this.#budgets, candidates);
	}

	#tellLook({ judgements, states }: Look): void {
		this.#observer.answered();
		this.#observer.counted(states);
		this.#tellChanges(judgements);
	}

	#nextLookMs(): number {
		const now = this.#ports.runtime.now();
		const waitedMs = now - (this.#waitingSince ??= now);
		return Math.min(Math.max(lookEveryMs.first, waitedMs * lookEveryMs.ofWait), lookEveryMs.most);
	}

	#orStop(wake: AbortSignal): AbortSignal {
		return AbortSignal.any([this.#ports.stop, wake]);
	}

	async #pause(ms: number, ends = this.#ports.stop): Promise<void> {
		await this.#ports.runtime.sleep(Math.max(0, ms), ends);
	}

	/** Who keeps a pod waiting may be others now, without a round having been worth it. */
	#tellChanges(judgements: readonly Judgement[]): void {
		const { holder } = this.#ports;
		const byBudget = new Map<string, Wait>();
		for (const judgement of judgements) {
			if (judgement.kind !== "waiting") continue;
			const waiting = this.#waiting.find(judgement.candidate.pod.uid);
			if (!waiting) continue;
			if (judgement.budget) byBudget.set(formatBudgetName(judgement.budget), judgement);
			if (waiting.last && isSameWait(judgement, waiting.last, holder)) waiting.last = judgement;
			else this.#tell(waiting, judgement, this.#nextLookMs());
		}
		// Those that were not looked at wait for the same.
		for (const waiting of this.#waiting.all()) {
			const budget = waiting.last?.budget;
			if (budget) waiting.last = byBudget.get(formatBudgetName(budget)) ?? waiting.last;
		}
	}

	#tell(waiting: WaitingRequest, wait: Wait, nextMs: number): void {
		waiting.last = wait;
		waiting.request.onWait?.(wait, nextMs);
	}
}
