// How long a drain may still take: what its plan said, for what is left, and not less than it took for what is done.
import type { RunEvent } from "../events/events.ts";

type Planned = Pick<Extract<RunEvent, { type: "plan" }>, "pods" | "etaSeconds">;
type Progress = Pick<Extract<RunEvent, { type: "progress" }>, "podsDone" | "podsTotal">;

export class RemainingTime {
	#plan: (Planned & { readonly at: number }) | undefined;

	/** `now`: monotonic milliseconds. */
	planned({ pods, etaSeconds }: Planned, now: number): void {
		this.#plan = { pods, etaSeconds, at: now };
	}

	/** Seconds, at least and at most; null: somebody else has to do something first. Undefined without a plan. */
	after({ podsDone, podsTotal }: Progress, now: number): readonly [number, number | null] | undefined {
		if (!this.#plan) return undefined;
		// Nodes whose turn has not come are in the plan only.
		const total = Math.max(this.#plan.pods, podsTotal);
		const left = total === 0 ? 0 : (total - podsDone) / total;
		const [shortest, longest] = this.#plan.etaSeconds;
		const atLeast = Math.round(shortest * left);
		if (longest === null) return [atLeast, null];
		const elapsed = (now - this.#plan.at) / 1_000;
		const atThisPace = podsDone === 0 ? 0 : (elapsed / podsDone) * (total - podsDone);
		return [atLeast, Math.max(atLeast, Math.round(longest * left), Math.round(atThisPace))];
	}
}
