// Measures how often a drain's duration lies within its plan's estimate, and how wide the estimates are. Simulates drains with random start
// and end times, and gives the planner only what the API server would show.
import type { V1Pod } from "@kubernetes/client-node";
import type { PlanPod, PodPace } from "../../plugin/plan/drain-plan.ts";
import { createPaceReader, estimateRange } from "../../plugin/plan/pod-pace.ts";
import { simulateDrain } from "../../plugin/plan/simulate-drain.ts";
import { seededRandom } from "../explore/random.ts";
import { planBudget, planPod } from "../plugin/plan/build-plan.ts";
import { newV1Pod } from "../support/build-v1-pod.ts";
import type { Measurement } from "./measurement.ts";

export interface EstimatedDrain {
	/** In seconds, like the other fields. */
	readonly atLeast: number;
	readonly atMost: number;
	readonly truth: number;
}

const created = Date.parse("2026-01-01T00:00:00Z");
const graceSeconds = 30;
const drainsOfRun = 200;

export const estimates: Measurement = {
	name: "estimate",
	ratios: ["estimate_within", "estimate_widest"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	seconds: { once: 2, each: 2 },
	async measure(bench, runs) {
		const within: number[] = [];
		const widest: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			const drains = drawDrains(run, bench.isSmall ? 20 : drainsOfRun);
			within.push(partWithin(drains));
			widest.push(widestRange(drains));
			for (const { atLeast, atMost, truth } of drains.slice(0, 5)) {
				bench.log(`  run ${run}: estimated ${atLeast} to ${atMost} s, took ${truth.toFixed(0)} s`);
			}
		}
		return { ratios: { estimate_within: within, estimate_widest: widest } };
	},
};

/** Returns the share (0 to 1) of the drains that ended within their estimate. */
export function partWithin(drains: readonly EstimatedDrain[]): number {
	return drains.filter(({ atLeast, atMost, truth }) => atLeast <= truth && truth <= atMost).length / drains.length;
}

export function widestRange(drains: readonly EstimatedDrain[]): number {
	return Math.max(...drains.map(({ atLeast, atMost }) => atMost / Math.max(1, atLeast)));
}

export function drawDrains(seed: number, count: number): readonly EstimatedDrain[] {
	const random = seededRandom(seed);
	return Array.from({ length: count }, () => drawDrain(random));
}

/** Draws one app under a budget with maxUnavailable 1, and up to five apps without a budget. */
function drawDrain(random: () => number): EstimatedDrain {
	const apps = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, index) => drawApp(`app-${index}`, random));
	const drained = apps.flatMap(({ pods }) => pods.slice(0, Math.ceil(pods.length / 2)));
	const planned = new Map<PlanPod, DrawnPod>(
		drained.map((drawn) => [
			planPod(drawn.pod.metadata?.name ?? "", { budgets: drawn.isCovered ? ["db"] : [] }),
			drawn,
		]),
	);
	const covered = apps[0]?.pods.length ?? 0;
	const budget = planBudget(
		{ maxUnavailable: 1 },
		{
			eu: { healthy: covered, expected: { kind: "known", pods: covered } },
			us: { healthy: 0, expected: { kind: "known", pods: 0 } },
		},
	);
	const groups = [[...planned.keys()]];
	const drainedIn = (paceOf: (drawn: DrawnPod) => PodPace): number =>
		simulateDrain([{ atOnce: 1, nodes: [{ name: "n0", groups }] }], [budget], (pod) => {
			const drawn = planned.get(pod);
			if (!drawn) throw new Error("a pod that was not drawn");
			return paceOf(drawn);
		}).endsAt;
	const paceOf = createPaceReader(
		apps.flatMap(({ pods }) => pods.map(({ pod }) => pod)),
		{ now: created + 86_400_000, gracePeriodSeconds: -1 },
	);
	const range = estimateRange({
		atLeast: drainedIn(({ pod }) => paceOf(pod).atLeast),
		likely: drainedIn(({ pod }) => paceOf(pod).likely),
		atMost: drainedIn(({ pod }) => paceOf(pod).atMost),
	});
	return { ...range, truth: drainedIn(({ truth }) => truth) };
}

interface DrawnPod {
	readonly pod: V1Pod;
	readonly isCovered: boolean;
	readonly truth: PodPace;
}

function drawApp(name: string, random: () => number): { readonly pods: readonly DrawnPod[] } {
	const isCovered = name === "app-0";
	const between = (from: number, to: number): number => from + random() * (to - from);
	const start = Math.exp(between(Math.log(3), Math.log(90)));
	const kind = random();
	const sleeps = kind < 0.25 ? Math.round(between(5, 15)) : 0;
	const ignoresSignals = kind > 0.9;
	const pods = Array.from({ length: 2 + Math.floor(random() * 6) }, (_, index): DrawnPod => {
		const schedules = between(1, 4);
		const readies = start * between(0.8, 1.25);
		const flap = random() < 0.15 ? between(60, 600) : 0;
		const pod = newV1Pod(`${name}-${index}`, { owner: { kind: "StatefulSet", name } });
		const at = (seconds: number): Date => new Date(created + Math.round(seconds) * 1_000);
		return {
			isCovered,
			truth: {
				goneAfter: (ignoresSignals ? graceSeconds : sleeps + between(0.2, 3)) + between(0.5, 2),
				backAfter: schedules + readies + (random() < 0.3 ? between(2, 15) : 0),
			},
			pod: {
				...pod,
				metadata: { ...pod.metadata, creationTimestamp: at(0) },
				spec: {
					nodeName: `n${index % 2}`,
					terminationGracePeriodSeconds: graceSeconds,
					containers: [
						{
							name: "main",
							readinessProbe: { initialDelaySeconds: start > 20 ? 10 : 0 },
							...(sleeps > 0 && { lifecycle: { preStop: { sleep: { seconds: sleeps } } } }),
						},
					],
				},
				status: {
					conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(schedules + readies + flap) }],
					containerStatuses: [
						{
							name: "main",
							image: "",
							imageID: "",
							ready: true,
							restartCount: 0,
							state: { running: { startedAt: at(schedules) } },
						},
					],
				},
			},
		};
	});
	return { pods };
}
