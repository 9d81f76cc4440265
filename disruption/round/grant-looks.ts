// Looks at the counts between two rounds, to see whether a round is worth its cost and what the pods wait for. A look is only a hint and
// can be wrong in both directions. Only a round decides.
import { checkAvailability, isWorthARound } from "./availability.ts";
import { formatBudgetName, type RoundBudget } from "../budget/budget.ts";
import type { Judgement } from "../budget/decide.ts";
import type { GrantObserver, GrantPorts } from "./grant-request.ts";
import { isSameWait, type Wait } from "./wait.ts";
import type { WaitingRequest, WaitingRequests } from "./waiting-requests.ts";

const maxLookedAt = 20;
/**
 * The first look comes so soon that people notice no delay. Later looks come after a tenth of the wait so far, to limit the calls to each
 * member.
 */
const lookEveryMs = { first: 300, most: 2_000, ofWait: 1 / 10 };
const roundAtLeastEveryMs = 10_000;

interface LookPorts extends Pick<GrantPorts, "members" | "holder" | "runtime"> {
	readonly observer: GrantObserver;
	readonly waiting: WaitingRequests;
}

export class GrantLooks {
	readonly #budgets: readonly RoundBudget[];
	readonly #ports: LookPorts;
	/** The last look predicted that a round would be worth its cost. */
	#nextRoundLikely = false;
	/** How many rounds in a row granted nothing although a look had predicted an answer. */
	#emptyRounds = 0;
	/** When the waiting pods began to wait, or to wait again after the last grant. Undefined until the next look is planned. */
	#waitingSince: number | undefined;

	constructor(budgets: readonly RoundBudget[], ports: LookPorts) {
		this.#budgets = budgets;
		this.#ports = ports;
	}

	/** Restarts the waiting time, because the line now has other pods. */
	beginAnew(): void {
		this.#waitingSince = undefined;
	}

	roundEnded(hasGranted: boolean): void {
		if (hasGranted) {
			this.#emptyRounds = 0;
			this.#waitingSince = undefined;
		} else if (this.#nextRoundLikely) this.#emptyRounds += 1;
		this.#nextRoundLikely = false;
	}

	/**
	 * Returns the milliseconds until the next look. They double with each round in a row that granted nothing although a look had predicted an
	 * answer, up to 10 s.
	 */
	nextMs(): number {
		const now = this.#ports.runtime.now();
		const waitedMs = now - (this.#waitingSince ??= now);
		const afterMs = Math.min(Math.max(lookEveryMs.first, waitedMs * lookEveryMs.ofWait), lookEveryMs.most);
		return Math.min(afterMs * 2 ** this.#emptyRounds, roundAtLeastEveryMs);
	}

	/**
	 * Resolves when a look shows that a round is worth its cost, when a round is due anyway, when no request is due, or when `ends` aborts.
	 */
	async untilWorthARound(
		ends: AbortSignal,
		onFailed: (error: unknown, looked: readonly WaitingRequest[]) => Promise<void>,
	): Promise<void> {
		const { runtime, waiting } = this.#ports;
		const until = runtime.now() + roundAtLeastEveryMs;
		while (!ends.aborted && runtime.now() < until) {
			await runtime.sleep(this.nextMs(), ends);
			const looked = firstOf(waiting.due(runtime.now()));
			if (ends.aborted || looked.length === 0) return;
			try {
				if (await this.look(looked)) return;
			} catch (error) {
				await onFailed(error, looked);
			}
		}
	}

	/**
	 * Returns whether a round is worth its cost, and always false in a pause. Before it returns false, it reports new reasons for the wait to
	 * all pods that it looked at.
	 */
	async look(looked: readonly WaitingRequest[], { isPaused = false } = {}): Promise<boolean> {
		const { members, observer } = this.#ports;
		const candidates = looked.map(({ request }) => request.candidate);
		const { judgements, states } = await checkAvailability(members(), this.#budgets, candidates);
		if (!isPaused) {
			this.#nextRoundLikely = judgements.some(isWorthARound);
			if (this.#nextRoundLikely) return true;
		}
		observer.answered();
		observer.counted(states);
		this.#tellChanges(judgements);
		return false;
	}

	#tellChanges(judgements: readonly Judgement[]): void {
		const { holder, waiting: line } = this.#ports;
		const byBudget = new Map<string, Wait>();
		for (const judgement of judgements) {
			if (judgement.kind !== "waiting") continue;
			const waiting = line.find(judgement.candidate.pod.uid);
			if (!waiting) continue;
			if (judgement.budget) byBudget.set(formatBudgetName(judgement.budget), judgement);
			const { request } = waiting;
			if (request.last && isSameWait(judgement, request.last, holder)) request.last = judgement;
			else waiting.tell(judgement, this.nextMs());
		}
		// Pods that were not looked at wait for the same budgets.
		for (const { request } of line.all()) {
			const { last } = request;
			if (last?.budget) request.last = byBudget.get(formatBudgetName(last.budget)) ?? last;
		}
	}
}

/** Returns the requests that a look covers. They stand for all others. */
export function firstOf(due: readonly WaitingRequest[]): readonly WaitingRequest[] {
	return due.slice(0, maxLookedAt);
}
