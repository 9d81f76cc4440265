// Simulates a drain: when each pod is evicted, what it waits for, and which pods can never be evicted.
//
// Guarantee: decide(), which a round uses too, judges each pod with the counts as the earlier grants have left them. So with the same
// counts, a plan and a drain judge a budget alike. Pods are judged one by one, with the same result as in one round for all of them.
// Not guaranteed: that nothing else changes. What does not belong to this drain stays as it was counted. If a pod waits only for something
// outside this drain, the simulation assumes that the wait ends.
import type {
	NeverPlanned,
	PlanBudget,
	PlannedPod,
	PlanPod,
	PlanQueue,
	PlanWait,
	PodPace,
	SimulatedDrain,
} from "./drain-plan.ts";
import { DrainQueue, type PodTurn } from "./drain-queue.ts";
import { SimulatedCounts, type WaitingJudgement } from "./simulated-counts.ts";

interface Flight {
	readonly pod: PlanPod;
	readonly costs: boolean;
	readonly goneAt: number;
	readonly backAt: number;
	isGone: boolean;
}

interface Asked {
	readonly pod: PlanPod;
	readonly node: string;
	/** The latest wait of each kind. */
	readonly waits: Map<PlanWait["kind"], PlanWait>;
	judgement: WaitingJudgement | undefined;
}

/** If all pods take 1 to go and 0 to be back, `at` is the number of the wave, from 0. */
export function simulateDrain(
	planQueues: readonly PlanQueue[],
	budgets: readonly PlanBudget[],
	paceOf: (pod: PlanPod) => PodPace,
): SimulatedDrain {
	const counts = new SimulatedCounts(budgets);
	const queues = planQueues.map((each) => new DrainQueue(each));
	const planned: PlannedPod[] = [];
	const inFlight = new Set<Flight>();
	/** By budget: the evicted pods whose return changes the budget's counts. */
	const comingBack = new Map<string, Set<Flight>>();
	let pending: readonly Asked[] = [];
	let now = 0;
	for (;;) {
		pending = [...pending, ...queues.flatMap((queue) => queue.begin().map(asking))];
		const left = pending.length;
		askAll();
		// A refused pod lets the next group or node start. After a standstill, all pending pods are judged again.
		if (pending.length < left || endStandstill()) continue;
		if (inFlight.size === 0) break;
		now = Math.min(...[...inFlight].map(({ isGone, goneAt, backAt }) => (isGone ? backAt : goneAt)));
		land();
	}
	const goes = planned.filter((each) => each.kind === "goes");
	return {
		pods: [...goes, ...planned.filter((each) => each.kind === "never")],
		endsAt: Math.max(0, ...goes.map(({ goneAt }) => goneAt)),
	};

	/** Judges every pod whose turn it is. Within one instant, no budget regains a disruption. */
	function askAll(): void {
		const usedUp = new Map<string, WaitingJudgement>();
		pending = pending.filter((asked) => {
			const judgement = usedUp.get(counts.classOf(asked.pod)) ?? counts.judge(asked.pod);
			if (judgement.kind === "never") return refuse(asked, judgement.never);
			if (judgement.kind === "may go") return send(asked, judgement.why === "Gone");
			if (judgement.key !== undefined) usedUp.set(counts.classOf(asked.pod), judgement);
			asked.judgement = judgement;
			return true;
		});
		// Pods that wait for the same thing share one object.
		const waits = new Map<WaitingJudgement, PlanWait>();
		for (const asked of pending) {
			const { judgement } = asked;
			const key = judgement?.key;
			if (!judgement || key === undefined || !isBeingMade(key)) continue;
			const wait = waits.get(judgement) ?? {
				kind: "budget",
				key,
				message: judgement.waiting.message,
				pods: [...(comingBack.get(key) ?? [])].map(({ pod }) => pod.candidate),
			};
			waits.set(judgement, wait);
			asked.waits.set("budget", wait);
		}
	}

	/**
	 * Handles pods that this drain cannot unblock: something outside it has to change, or the pod can never be evicted. Returns whether
	 * anything changed.
	 */
	function endStandstill(): boolean {
		const better = new Map<string, boolean>();
		pending = pending.filter((asked) => {
			const { pod, judgement } = asked;
			if (!judgement || isBeingMade(judgement.key)) return true;
			const { key = pod.candidate.pod.uid, waiting } = judgement;
			const isBetter = better.get(key) ?? counts.recover(pod, judgement);
			better.set(key, isBetter);
			if (!isBetter) return refuse(asked, counts.neverMet(judgement));
			asked.waits.set("others", { kind: "others", waiting });
			return true;
		});
		return better.size > 0;
	}

	function isBeingMade(key: string | undefined): boolean {
		return key !== undefined && (comingBack.get(key)?.size ?? 0) > 0;
	}

	function refuse({ pod, node }: Asked, never: NeverPlanned): false {
		planned.push({ pod, node, kind: "never", never });
		for (const queue of queues) queue.gone(pod);
		return false;
	}

	function send({ pod, node, waits }: Asked, isGone: boolean): false {
		const { goneAfter, backAfter } = isGone ? { goneAfter: 0, backAfter: 0 } : paceOf(pod);
		const goneAt = now + goneAfter;
		const flight = { pod, costs: counts.take(pod), goneAt, backAt: goneAt + backAfter, isGone: false };
		inFlight.add(flight);
		if (pod.strands !== undefined) {
			counts.strand(pod, flight.costs);
		} else if (flight.costs || !pod.replaced) {
			for (const key of pod.states.keys()) comingBack.set(key, (comingBack.get(key) ?? new Set()).add(flight));
		}
		planned.push({ pod, node, kind: "goes", at: now, goneAt, waits: [...waits.values()] });
		return false;
	}

	function land(): void {
		for (const flight of inFlight) {
			if (!flight.isGone && flight.goneAt <= now) {
				flight.isGone = true;
				for (const queue of queues) queue.gone(flight.pod);
			}
			if (!flight.isGone || flight.backAt > now) continue;
			inFlight.delete(flight);
			for (const key of flight.pod.states.keys()) comingBack.get(key)?.delete(flight);
			if (flight.pod.strands === undefined) counts.back(flight.pod, flight.costs);
		}
	}
}

function asking({ pod, node, waits }: PodTurn): Asked {
	return { pod, node, waits: new Map(waits.map((wait) => [wait.kind, wait])), judgement: undefined };
}
