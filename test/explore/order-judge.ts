// Judges fairness, not safety: no caller overtakes a line, and no caller takes a Lease from a holder that shows life.
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { nonceOf, signOfLifeOf } from "./lease-text.ts";
import type { Violation } from "./oracle.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface OrderJudgeOptions {
	readonly processes: () => readonly SimulatedProcess[];
	readonly onViolation: (violation: Violation) => void;
}

export class OrderJudge {
	readonly #options: OrderJudgeOptions;
	/** By sign of life of a Lease: when it was given, on each agent's clock. */
	readonly #signs = new Map<string, ReadonlyMap<SimulatedProcess, number>>();

	constructor(options: OrderJudgeOptions) {
		this.#options = options;
	}

	wrote(by: SimulatedProcess, before: LeaseObject | undefined, after: LeaseObject): void {
		if (before) this.#judge(by, before, after);
		const { processes } = this.#options;
		const sign = signOfLifeOf(after);
		if (this.#signs.has(sign)) return;
		this.#signs.set(sign, new Map(processes().map((process) => [process, process.clock.now()])));
	}

	/** Called when a caller that does not wait got a Lease for which other callers wait at the same agent. */
	passedLine(agent: SimulatedProcess, what: string): void {
		this.#options.onViolation({ rule: "order", message: `${agent.name} lets a newcomer past its line: ${what}` });
	}

	#judge(by: SimulatedProcess, before: LeaseObject, after: LeaseObject): void {
		const { holderIdentity: holder, leaseDurationSeconds = 1 } = before.spec;
		if (!holder || nonceOf(before) === nonceOf(after)) return;
		// The agent cannot have seen the sign before it was given.
		const givenAt = this.#signs.get(signOfLifeOf(before))?.get(by) ?? 0;
		if (by.clock.now() - givenAt >= leaseDurationSeconds * 1_000) return;
		this.#options.onViolation({
			rule: "order",
			message: `${by.name} takes Lease ${before.name} from ${holder}, which has shown life ${by.clock.now() - givenAt} ms ago`,
		});
	}
}
