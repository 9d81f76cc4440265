// Answers requests for grants. Requests under the same budgets share a queue and go through rounds together. Between two rounds they wait
// until a look shows that a round is worth its cost, another request arrives, or 10 s pass.
//
// Guarantee: each grant comes from a round (round.ts) and is handed out once, to its caller. If its caller has stopped waiting, its
// reservation is given back. Assumptions: those of round.ts.
import { classifyFailure, retryAfterMs } from "../budget/classify-failure.ts";
import type { Member } from "../budget/cluster.ts";
import { formatBudgetName, type RoundBudget } from "../budget/budget.ts";
import { AgentUnavailableError, LeaseLostError } from "../errors.ts";
import { cancelTicket } from "./eviction.ts";
import type { RoundVerdict, Ticket } from "./ticket.ts";
import { firstOf, GrantLooks } from "./grant-looks.ts";
import type { GrantAnswer, GrantObserver, GrantPorts, GrantRequest } from "./grant-request.ts";
import { PlacesInUse } from "./places.ts";
import { runRound } from "./round.ts";
import { leaseHeld, type Wait } from "./wait.ts";
import { allOver, WaitingRequest, WaitingRequests } from "./waiting-requests.ts";

export class GrantQueue {
	readonly #ports: GrantPorts;
	/** By the names and selectors of their budgets. */
	readonly #rounds = new Map<string, GrantRounds>();
	readonly #budgets = new Map<string, RoundBudget>();

	constructor(ports: GrantPorts) {
		this.#ports = ports;
	}

	get budgets(): readonly RoundBudget[] {
		return [...this.#budgets.values()];
	}

	/**
	 * Answers the request, or resolves with undefined if its signal aborts first. Rejects if a person has to act (classifyFailure: refuse)
	 * or if there is a bug.
	 */
	ask(request: GrantRequest): Promise<GrantAnswer | undefined> {
		const { budgets } = request;
		// The key includes the selectors: after a change of a selector, rounds count by the new one.
		const key = JSON.stringify(budgets);
		const rounds = this.#rounds.get(key) ?? new GrantRounds(budgets, this.#ports);
		this.#rounds.set(key, rounds);
		for (const budget of budgets) this.#budgets.set(formatBudgetName(budget.name), budget);
		return rounds.ask(request);
	}

	/** Resolves when all grants have been ended or given back. */
	async settled(): Promise<void> {
		await Promise.all([...this.#rounds.values()].map((rounds) => rounds.settled()));
	}
}

const gatherForMs = 250;
const afterLostMs = 50;
/** The longest pause after a lost round. */
const lostAtMostEveryMs = 5_000;

class GrantRounds {
	readonly #budgets: readonly RoundBudget[];
	readonly #ports: GrantPorts;
	readonly #observer: GrantObserver;
	readonly #waiting = new WaitingRequests();
	readonly #looks: GrantLooks;
	readonly #inUse: PlacesInUse;
	#running: Promise<void> | undefined;
	/** The last round had to wait for other runs, or lost a Lease. */
	#contended = false;
	/** How many rounds in a row lost a Lease. */
	#lost = 0;

	constructor(budgets: readonly RoundBudget[], ports: GrantPorts) {
		this.#budgets = budgets;
		this.#ports = ports;
		this.#observer = ports.observe();
		this.#inUse = new PlacesInUse(ports.places);
		this.#looks = new GrantLooks(budgets, { ...ports, observer: this.#observer, waiting: this.#waiting });
	}

	ask(request: GrantRequest): Promise<GrantAnswer | undefined> {
		const waiting = new WaitingRequest(request);
		if (!waiting.over.aborted) {
			// No earlier request waits any more, so the waiting time starts again.
			if (this.#waiting.size === 0) this.#looks.beginAnew();
			this.#waiting.add(waiting);
			this.#start();
		}
		return waiting.answer;
	}

	/** Resolves when all work that started here has ended. */
	async settled(): Promise<void> {
		await this.#running;
		await this.#inUse.settled();
	}

	#start(): void {
		this.#running ??= this.#run()
			// A bug: all waiting callers get the error.
			.catch((error: unknown) => this.#waiting.fail(error))
			.finally(() => {
				this.#running = undefined;
				if (this.#waiting.size > 0) this.#start();
			});
	}

	async #run(): Promise<void> {
		const { runtime, places } = this.#ports;
		// Pods whose budgets came with the same list share a round.
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
			await this.#looks.untilWorthARound(this.#orStop(arrival), (error, looked) => this.#fail(error, looked));
		}
	}

	/**
	 * Waits until a place is free, a request arrives, the time `at` comes, or the run stops. By default, `at` is when the next request
	 * becomes due: its lane may have a free place.
	 */
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

	/**
	 * Waits a short time for the granted pods to be done. While other runs want the Leases, it is better to request many pods in few rounds.
	 */
	async #untilBack(): Promise<void> {
		const back = new AbortController();
		void this.#inUse.settled().finally(() => back.abort("all are back"));
		await this.#pause(gatherForMs, this.#orStop(back.signal));
	}

	/** Returns the first requests of each lane, as many as may be granted now, and takes places for them. */
	#withinPlaces(due: readonly WaitingRequest[]): readonly WaitingRequest[] {
		const byLane = Map.groupBy(due, ({ request }) => request.lane);
		const first = new Set(
			[...byLane].flatMap(([lane, some]) => some.slice(0, this.#ports.places.ask(lane, some.length))),
		);
		return due.filter((waiting) => first.has(waiting));
	}

	/** Runs one round and hands out its answers. Returns the requests that still wait and are due, or none if the round gave no answer. */
	async #ask(asked: readonly WaitingRequest[]): Promise<readonly WaitingRequest[]> {
		const members = this.#ports.members();
		let verdicts: readonly RoundVerdict[] = [];
		try {
			verdicts = await this.#round(asked, members);
			for (const verdict of verdicts) this.#apply(verdict, members);
		} finally {
			const byLane = Map.groupBy(asked, ({ request }) => request.lane);
			for (const [lane, { length }] of byLane) this.#ports.places.answered(lane, length);
		}
		this.#looks.roundEnded(verdicts.some(({ kind }) => kind === "granted"));
		if (verdicts.length === 0) return [];
		const now = this.#ports.runtime.now();
		return asked.filter((waiting) => this.#waiting.has(waiting) && waiting.dueAt <= now);
	}

	/** Returns the verdicts of one round, or none if it failed. */
	async #round(asked: readonly WaitingRequest[], members: readonly Member[]): Promise<readonly RoundVerdict[]> {
		const { holder, stop, runtime, runRound: run = runRound } = this.#ports;
		const contended = this.#contended;
		this.#contended = false;
		const signal = AbortSignal.any([stop, allOver(asked)]);
		try {
			const verdicts = await run(
				{
					clusters: members,
					budgets: this.#budgets,
					holder,
					candidates: asked.map(({ request }) => request.candidate),
					signal,
					contended,
					observer: {
						...this.#observer,
						queued: (place) => {
							this.#contended = true;
							if (place.holder !== "") for (const { request } of asked) request.last = leaseHeld(place);
							this.#observer.queued(place);
						},
					},
				},
				runtime,
			);
			this.#observer.answered();
			this.#lost = 0;
			return verdicts;
		} catch (error) {
			if (!signal.aborted) await this.#fail(error, asked);
			return [];
		}
	}

	async #fail(error: unknown, asked: readonly WaitingRequest[]): Promise<void> {
		if (error instanceof LeaseLostError) {
			this.#observer.answered();
			// Another run probably wants the Lease: wait in line for it.
			this.#contended = true;
			await this.#pause(Math.min(afterLostMs * 2 ** this.#lost, lostAtMostEveryMs));
			this.#lost += 1;
			return;
		}
		const failure = classifyFailure(error);
		if (!failure) throw error;
		const { kind, reason, message } = failure;
		if (kind === "refuse") for (const waiting of asked) waiting.fail(error);
		else if (error instanceof AgentUnavailableError) {
			for (const { request } of asked) request.last = { reason, message };
			this.#observer.unreachable(error);
			await this.#pause(failure.afterMs);
		} else for (const waiting of asked) this.#later(waiting, { reason, message });
	}

	#apply(verdict: RoundVerdict, members: readonly Member[]): void {
		const waiting = this.#waiting.find(verdict.candidate.pod.uid);
		switch (verdict.kind) {
			case "granted":
				return this.#grant(verdict.ticket, waiting, members);
			case "free": {
				const { kind, why } = verdict;
				waiting?.finish({ kind, why, place: this.#inUse.keep(waiting.request.lane) });
				return;
			}
			case "waiting":
				if (verdict.reason === "CoverageChanged") waiting?.finish(verdict);
				else waiting?.tell(verdict, this.#looks.nextMs());
				return;
			case "refused": {
				const { reason, message, retry } = verdict;
				if (!retry || reason === "FleetsDiffer") waiting?.finish(verdict);
				else if (waiting) this.#later(waiting, { reason, message });
			}
		}
	}

	/** Hands the grant to its caller. If the caller has stopped waiting, the grant is given back. */
	#grant(ticket: Ticket, waiting: WaitingRequest | undefined, members: readonly Member[]): void {
		const member = members.find(({ id }) => id === ticket.clusterId);
		if (!member) throw new Error(`a ticket for cluster ${ticket.clusterId}, which is no member`);
		this.#observer.granted();
		const cancel = (): Promise<void> => cancelTicket(ticket, member, this.#ports.runtime, { sent: false });
		if (!waiting) {
			this.#inUse.track(cancel());
			return;
		}
		const place = this.#inUse.keep(waiting.request.lane);
		const giveBack = (): Promise<void> => {
			const cancelled = cancel();
			this.#inUse.track(cancelled);
			place.end();
			return cancelled;
		};
		waiting.finish({ kind: "granted", grant: { ...place, ticket, member, giveBack } });
	}

	/** Requests the pod again after a pause, because the cause may be fixed at any time. */
	#later(waiting: WaitingRequest, wait: Wait): void {
		waiting.tell(wait, retryAfterMs);
		waiting.dueAt = this.#ports.runtime.now() + retryAfterMs;
	}

	/**
	 * Looks at the counts while the run is paused. It requests no grant then, but the person who paused it wants to see what blocks the pods.
	 */
	async #lookOn(due: readonly WaitingRequest[], arrival: AbortSignal): Promise<void> {
		const { places, stop, runtime } = this.#ports;
		await this.#untilFreed(arrival, runtime.now() + this.#looks.nextMs());
		if (!places.isPaused || stop.aborted || arrival.aborted) return;
		try {
			await this.#looks.look(firstOf(due), { isPaused: true });
		} catch (error) {
			await this.#fail(error, due);
		}
	}

	#orStop(wake: AbortSignal): AbortSignal {
		return AbortSignal.any([this.#ports.stop, wake]);
	}

	async #pause(ms: number, ends = this.#ports.stop): Promise<void> {
		await this.#ports.runtime.sleep(Math.max(0, ms), ends);
	}
}
