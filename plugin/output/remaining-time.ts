// How long a drain may still take: what its plan said, corrected by what the run itself shows. With each pod that is done the plan counts
// less, and where both agree the range becomes narrower.
import type { RunEvent } from "../events/events.ts";

type Planned = Pick<Extract<RunEvent, { type: "plan" }>, "pods" | "etaSeconds">;
type Progress = Pick<Extract<RunEvent, { type: "progress" }>, "podsDone" | "podsTotal">;

/** How far the rest may be from what is expected, either way: by the pace of many pods, as pods differ; and at most. */
const narrowest = 1.5;
const widest = 2;
/** Some of what the rest takes is left, however long it has taken already. */
const leastLeft = 0.25;

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
		const share = total === 0 ? 0 : Math.max(0, total - podsDone) / total;
		const [shortest, longest] = this.#plan.etaSeconds;
		if (longest === null) return [Math.round(shortest * share), null];
		if (share === 0) return [0, 0];
		const elapsed = Math.max(0, now - this.#plan.at) / 1_000;
		const [low, high] = [Math.max(1, shortest), Math.max(1, longest)];
		const expected = Math.sqrt(low * high);
		const atThisPace = podsDone === 0 ? Math.max(expected, elapsed) : Math.max(1, (elapsed * total) / podsDone);
		// How much the run's own pace counts: pods that go first are seldom like the rest.
		const shown = Math.sqrt(1 - share);
		const whole = podsDone === 0 ? atThisPace : expected ** (1 - shown) * atThisPace ** shown;
		// By the clock, and with each pod more by the pods that are left.
		const left = Math.max(share * (whole - elapsed) + (1 - share) * whole * share, whole * share * leastLeft);
		const doubt = Math.max(atThisPace / expected, expected / atThisPace) ** (1 / 4);
		const factor = Math.min(widest, Math.max(Math.sqrt(high / low) * (1 - shown) + narrowest * shown, doubt));
		const atLeast = Math.round(left / factor);
		return [atLeast, Math.max(atLeast, Math.round(left * factor))];
	}
}
