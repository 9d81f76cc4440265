// Implements --for=replaced: waits until the budgets of the evicted pods have as many healthy pods as before the run. If fewer pods are
// expected by now, the expected number is enough. The count before the run may be a moment old. So if the expected number is known, the
// higher of that count and the one behind the first grant is used.
import { formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import type { Count } from "../../disruption/budget/cluster.ts";
import { findCovering } from "../../disruption/budget/coverage-judgement.ts";
import { budgetState, totalsOf } from "../../disruption/budget/allowance.ts";
import { classifyFailure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { EventSink } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { FleetChanges } from "../fleet/fleet-changes.ts";
import type { Reachability } from "../fleet/reachability.ts";
import type { Timeout } from "./eviction-job.ts";
import type { Evictions } from "./evictions.ts";
import type { FailedPod } from "./pod-outcome.ts";
import type { PodTarget } from "./pod-targets.ts";
import { unlessOver } from "../kubernetes/unless-over.ts";

export interface Measured {
	readonly budget: RoundBudget;
	readonly healthy: number;
}

export interface RecoveryDependencies {
	readonly fleet: Fleet;
	readonly timeout: Timeout;
	readonly stop: AbortSignal;
	readonly emit: EventSink;
	readonly reachability: Reachability;
	readonly runtime: Pick<RoundRuntime, "sleep">;
}

export interface RecoveryWaitDependencies extends RecoveryDependencies {
	readonly evictions: Pick<Evictions, "healthyAtFirstGrant">;
}

interface Stopped {
	readonly kind: "stopped";
}

const lookEveryMs = 1_000;

/** Finds the budgets that cover these pods, and counts each budget's healthy pods over all members. */
export async function measureBudgets(fleet: Fleet, pods: readonly PodTarget[]): Promise<readonly Measured[]> {
	const covered = pods.filter(({ context }) => fleet.memberOf(context.name));
	const namespaces = [...new Set(covered.map(({ pod }) => pod.metadata?.namespace ?? ""))];
	const lists = (await fleet.listBudgets(namespaces)).flatMap((member) => member.budgets);
	const budgets = new Map<string, RoundBudget>();
	for (const { pod } of covered) {
		const { namespace = "", labels = {} } = pod.metadata ?? {};
		for (const budget of findCovering(lists, { namespace, labels }).budgets)
			budgets.set(formatBudgetName(budget.name), budget);
	}
	return Promise.all(
		[...budgets.values()].map(async (budget) => ({
			budget,
			healthy: totalsOf(await countUnder(fleet, budget)).healthy,
		})),
	);
}

/** Measures the budgets before anything is changed. Waits for members that give no answer, until the timeout. */
export async function waitUntilMeasured(
	pods: readonly PodTarget[],
	deps: RecoveryDependencies,
): Promise<{ readonly kind: "measured"; readonly before: readonly Measured[] } | Stopped | FailedPod> {
	let before: readonly Measured[] | undefined;
	const look = async (ends: AbortSignal): Promise<boolean> => {
		before = await unlessOver(measureBudgets(deps.fleet, pods), ends);
		return before !== undefined;
	};
	const late = (): string => `could not count the healthy pods within ${deps.timeout.text}, nothing was touched`;
	const ended = await lookUntilDone(look, late, deps);
	return ended ?? { kind: "measured", before: before ?? [] };
}

export async function waitUntilRecovered(
	before: readonly Measured[],
	deps: RecoveryWaitDependencies,
): Promise<{ readonly kind: "recovered" } | Stopped | FailedPod> {
	const { fleet, timeout, emit, evictions } = deps;
	const missing = new Map(before.map((measured) => [formatBudgetName(measured.budget.name), measured]));
	const look = async (ends: AbortSignal): Promise<boolean> => {
		for (const [name, { budget, healthy }] of missing) {
			const counts = await unlessOver(countUnder(fleet, budget), ends);
			if (!counts) break;
			const now = totalsOf(counts);
			const most = Math.max(healthy, evictions.healthyAtFirstGrant(name) ?? healthy);
			// If the expected number is unknown, the grant's count is not used: it may include an extra pod that never comes back.
			if (now.healthy < (now.expected === undefined ? healthy : Math.min(most, now.expected))) continue;
			missing.delete(name);
			const state = budgetState({ budget, counts });
			if (state) emit({ type: "budget.changed", ...state, budget: name });
		}
		return missing.size === 0;
	};
	const late = (): string => `budget ${[...missing.keys()].join(", ")} has not recovered within ${timeout.text}`;
	return (await lookUntilDone(look, late, deps)) ?? { kind: "recovered" };
}

/**
 * Calls `look` about once a second until it returns true. Returns undefined then, or the result of a stop or the timeout that came first.
 * Rejects with any lasting error.
 */
async function lookUntilDone(
	look: (ends: AbortSignal) => Promise<boolean>,
	late: () => string,
	deps: RecoveryDependencies,
): Promise<Stopped | FailedPod | undefined> {
	const { fleet, timeout, stop, reachability, runtime } = deps;
	const ends = AbortSignal.any([timeout.signal, stop]);
	const doubts = new Doubts(deps);
	for (;;) {
		const asked = fleet.members;
		try {
			const isDone = await look(ends);
			if (isDone || !ends.aborted) reachability.answered();
			if (isDone) return undefined;
		} catch (error) {
			await doubts.tell(error, asked);
		}
		if (stop.aborted) return { kind: "stopped" };
		if (timeout.signal.aborted) return notInTime(late(), deps);
		await runtime.sleep(lookEveryMs, ends);
	}
}

function notInTime(what: string, { emit, reachability: { lost } }: RecoveryDependencies): FailedPod {
	const unreachable = lost.length > 0;
	const message = unreachable ? `${what}: cluster ${lost.join(", ")} gives no answer` : what;
	const reason = unreachable ? "PeerUnreachable" : "TimedOut";
	emit({ type: "diagnostic", level: "error", reason, message });
	return { kind: "failed", message, reason, unreachable };
}

/** Judges counts that failed. Members without an answer may come back, and people may fix lists that differ. */
class Doubts {
	readonly #deps: RecoveryDependencies;
	readonly #changes: FleetChanges;
	readonly #told = new Set<string>();
	/** Disagreements after which the members agreed. */
	readonly #settled = new Set<string>();

	constructor(deps: RecoveryDependencies) {
		this.#deps = deps;
		this.#changes = new FleetChanges(deps.fleet, deps.emit, () => undefined);
	}

	/** Reports a temporary problem once. Throws any other error. */
	async tell(error: unknown, asked: Fleet["members"]): Promise<void> {
		try {
			const message = await this.#doubt(error, asked);
			if (message === undefined || this.#told.has(message)) return;
			this.#told.add(message);
			this.#deps.emit({ type: "diagnostic", level: "warning", reason: "FleetsDiffer", message });
		} catch (problem) {
			if (!(problem instanceof AgentUnavailableError)) throw problem;
			this.#deps.reachability.failed(problem);
		}
	}

	/**
	 * Returns why the healthy pods cannot be counted now. Undefined if the fleet has changed, or if members that disagreed agree now, because
	 * the next look asks the current members. A disagreement that comes back is returned.
	 */
	async #doubt(error: unknown, asked: Fleet["members"]): Promise<string | undefined> {
		const failure = classifyFailure(error);
		const isDoubt = failure?.reason === "FleetsDiffer";
		// A cluster that is no longer a member refuses calls that go through it.
		if (!failure || (!isDoubt && failure.reason !== "AgentRefused")) throw error;
		const answer = await this.#changes.ask(asked);
		if (typeof answer === "string") {
			if (answer === "same" && !isDoubt) throw error;
			return isDoubt && this.#comesAgain(failure.message) ? failure.message : undefined;
		}
		if (answer.kind === "refuse") throw error;
		return answer.message;
	}

	/** Whether members have disagreed in these words before, and agreed when they were asked. */
	#comesAgain(message: string): boolean {
		if (this.#settled.has(message)) return true;
		this.#settled.add(message);
		return false;
	}
}

function countUnder({ members }: Pick<Fleet, "members">, budget: RoundBudget): Promise<readonly Count[]> {
	const { name, selector } = budget;
	return Promise.all(
		members.map((member) => member.look({ budget: name, selector, candidates: [], thisBudgetAlone: true })),
	);
}
