// A drain in thought: which pod goes when, what it waits for, and which can never go.
//
// Guarantee: whether a pod may go is asked of decide(), which the round itself asks, with the counts as the grants before
// have left them; so a plan and a drain cannot disagree about a budget. Pods are asked one by one in their order, which
// gives what one round gives to all of them. Not promised: that the world stands still. What is none of this drain's
// stays as it was counted, until a pod could wait for nothing else: then it is taken to be over.
import type {
	NeverPlanned,
	PlanBudget,
	PlanLane,
	PlannedPod,
	PlanPod,
	PlanWait,
	PodPace,
	SimulatedDrain,
} from "./drain-plan.ts";
import type { RoundCandidate } from "./verdict.ts";
import { LaneTurns, type PodTurn } from "./lane-turns.ts";
import { PlanLedger, type WaitingForRoom } from "./plan-ledger.ts";

/** A pod that went: gone later, and its replacement back later still. */
interface Flight {
	readonly pod: PlanPod;
	readonly costs: boolean;
	readonly goneAt: number;
	readonly backAt: number;
	isGone: boolean;
}

/** A pod whose turn it is; `judgement`: why it could not go at this instant. */
interface Asked extends PodTurn {
	readonly judgement?: WaitingForRoom;
}

/** Drains these nodes in thought. With a pace of 1 and 0 for all pods, `at` is the number of the wave, from 0. */
export function simulateDrain(
	lanes: readonly PlanLane[],
	budgets: readonly PlanBudget[],
	paceOf: (pod: PlanPod) => PodPace,
): SimulatedDrain {
	const ledger = new PlanLedger(budgets);
	const turns = lanes.map((lane) => new LaneTurns(lane));
	const planned: PlannedPod[] = [];
	const inFlight = new Set<Flight>();
	let pending: readonly Asked[] = [];
	let now = 0;
	for (;;) {
		pending = [...pending, ...turns.flatMap((lane) => lane.begin())];
		const left = pending.length;
		askAll();
		// A pod that was gone already, or never goes, lets the next group or node begin.
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

	/** Asks for everyone whose turn it is. Within an instant there is never more room than before. */
	function askAll(): void {
		const usedUp = new Map<string, WaitingForRoom>();
		pending = pending.flatMap((turn): readonly Asked[] => {
			const judgement = usedUp.get(ledger.classOf(turn.pod)) ?? ledger.judge(turn.pod);
			if (judgement.kind === "never") return refuse(turn, judgement.never);
			if (judgement.kind === "may go") return send(turn, judgement.why === "Gone");
			if (judgement.key !== undefined) usedUp.set(ledger.classOf(turn.pod), judgement);
			return [{ ...turn, judgement }];
		});
		const bringers = new Map<string, readonly RoundCandidate[]>();
		pending = pending.map((asked) => {
			const { key = "", waiting } = asked.judgement ?? {};
			const pods = bringers.get(key) ?? bringingRoom(key);
			bringers.set(key, pods);
			if (!waiting || pods.length === 0) return asked;
			return waitingFor(asked, { kind: "budget", key, message: waiting.message, pods });
		});
	}

	/** Pods for which nothing of this drain makes room: others have to, or it is never. Says whether it changed anything. */
	function endStandstill(): boolean {
		const better = new Map<string, boolean>();
		const before = pending;
		pending = before.flatMap((asked): readonly Asked[] => {
			const { pod, judgement } = asked;
			if (!judgement || bringingRoom(judgement.key).length > 0) return [asked];
			const { key = pod.candidate.pod.uid, waiting } = judgement;
			const isBetter = better.get(key) ?? ledger.recover(pod, judgement);
			better.set(key, isBetter);
			return isBetter ? [waitingFor(asked, { kind: "others", waiting })] : refuse(asked, ledger.neverMet(judgement));
		});
		return better.size > 0;
	}

	/** Pods of this drain that are down now and give room to the budget when they are back. */
	function bringingRoom(key: string | undefined): readonly RoundCandidate[] {
		return [...inFlight].flatMap(({ pod, costs }) =>
			key !== undefined && pod.states.has(key) && (costs || !pod.replaced) ? [pod.candidate] : [],
		);
	}

	function refuse({ pod, node }: PodTurn, never: NeverPlanned): readonly [] {
		planned.push({ pod, node, kind: "never", never });
		for (const lane of turns) lane.gone(pod);
		return [];
	}

	function send({ pod, node, waits }: PodTurn, isGone: boolean): readonly [] {
		const { goneAfter, backAfter } = isGone ? { goneAfter: 0, backAfter: 0 } : paceOf(pod);
		const goneAt = now + goneAfter;
		inFlight.add({ pod, costs: ledger.take(pod), goneAt, backAt: goneAt + backAfter, isGone: false });
		planned.push({ pod, node, kind: "goes", at: now, goneAt, waits });
		return [];
	}

	function land(): void {
		for (const flight of inFlight) {
			if (!flight.isGone && flight.goneAt <= now) {
				flight.isGone = true;
				for (const lane of turns) lane.gone(flight.pod);
			}
			if (!flight.isGone || flight.backAt > now) continue;
			inFlight.delete(flight);
			ledger.back(flight.pod, flight.costs);
		}
	}
}

/** Of each kind of wait the latest one is kept. */
function waitingFor(asked: Asked, wait: PlanWait): Asked {
	return { ...asked, waits: [...asked.waits.filter(({ kind }) => kind !== wait.kind), wait] };
}
