// Estimates the rest of a drain from the plan, and more and more from the run's own pace.
import type { RunEvent } from "../events/events.ts";

type Planned = Pick<Extract<RunEvent, { type: "plan" }>, "pods" | "etaSeconds">;
type Progress = Pick<Extract<RunEvent, { type: "progress" }>, "podsDone" | "podsTotal">;

/** Factors by which the rest may be longer or shorter than estimated: `narrowest` after many pods, `widest` at most. */
const narrowest = 1.5;
const widest = 2;
/** At least this share of the rest is left, however long it has taken already. */
const leastLeft = 0.25;

export class RemainingTime {
	#plan: (Planned & { readonly at: number }) | undefined;

	/** `now`: monotonic ms. */
	planned({ pods, etaSeconds }: Planned, now: number): void {
		this.#plan = { pods, etaSeconds, at: now };
	}

	/** Returns the shortest and the longest time left, in seconds. null: the plan has no longest duration. Undefined without a plan. */
	after({ podsDone, podsTotal }: Progress, now: number): readonly [number, number | null] | undefined {
		if (!this.#plan) return undefined;
		// Nodes that have not started are only in the plan.
		const total = Math.max(this.#plan.pods, podsTotal);
		const share = total === 0 ? 0 : Math.max(0, total - podsDone) / total;
		const [shortest, longest] = this.#plan.etaSeconds;
		if (longest === null) return [Math.round(shortest * share), null];
		if (share === 0) return [0, 0];
		const elapsed = Math.max(0, now - this.#plan.at) / 1_000;
		const [low, high] = [Math.max(1, shortest), Math.max(1, longest)];
		const expected = Math.sqrt(low * high);
		const atThisPace = podsDone === 0 ? Math.max(expected, elapsed) : Math.max(1, (elapsed * total) / podsDone);
		// The weight of the run's own pace. The first pods are rarely like the rest.
		const shown = Math.sqrt(1 - share);
		const whole = podsDone === 0 ? atThisPace : expected ** (1 - shown) * atThisPace ** shown;
		// At first, the elapsed time counts most. With each finished pod, the number of pods left counts more.
		const left = Math.max(share * (whole - elapsed) + (1 - share) * whole * share, whole * share * leastLeft);
		const doubt = Math.max(atThisPace / expected, expected / atThisPace) ** (1 / 4);
		const factor = Math.min(widest, Math.max(Math.sqrt(high / low) * (1 - shown) + narrowest * shown, doubt));
		const atLeast = Math.round(left / factor);
		return [atLeast, Math.max(atLeast, Math.round(left * factor))];
	}
}
