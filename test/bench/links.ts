// Measures the round trips of one eviction, compared with a bare call and with x-pdb's design, whose round trips are calculated.
// An eviction without the delay precedes each one with it, and only the difference counts, so that slow processors do not affect the
// result.
import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { type BenchPod, bareEvictor, type Evictor, openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { median } from "./statistics.ts";
import { createRoomyWorkload, type Workload } from "./workload.ts";

const turns = 12;
/** Not counted: these turns open connections and compile code. */
const turnsBefore = 3;
const pauseMs = 100;
/** Round-trip delays in milliseconds. */
const delays = [20, 80] as const;

interface Place {
	readonly name: "between" | "everywhere";
	readonly what: string;
	/** Takes the link's name: "plugin->c1", "c1->c2", or "c1->c1" from the agents of c1 to their API server. */
	readonly hasDelay: (link: string) => boolean;
	/**
	 * x-pdb's round trips in addition to those of a bare eviction. Two are between clusters: Lock and GetState, each at all others at once.
	 * Four are to API servers: x-pdb reads and writes its Lease in its own cluster, then in the others.
	 */
	readonly roundTripsOfXpdb: number;
}

const places: readonly Place[] = [
	{
		name: "between",
		what: "between clusters, and to the API servers from outside",
		hasDelay: (link) => {
			const [from, to] = link.split("->");
			return from !== to;
		},
		roundTripsOfXpdb: 2,
	},
	{ name: "everywhere", what: "on every link", hasDelay: () => true, roundTripsOfXpdb: 2 + 2 + 2 },
];

export const links: Measurement = {
	name: "links",
	ratios: delays.flatMap((ms) => places.map((place) => ratioName(ms, place))),
	on: "wan",
	runs: { full: 3, short: 0 },
	onlyByName: true,
	async measure(bench, runs) {
		await using workload = await createRoomyWorkload(bench, 40);
		const ratios: Record<string, number[]> = {};
		const details: object[] = [];
		for (let run = 1; run <= runs; run += 1) {
			for (const place of places) {
				for (const ms of delays) {
					const { ours, bare } = await takeTurns(bench, workload, { place, ms });
					const xpdbCalculated = bare.added + place.roundTripsOfXpdb * ms;
					(ratios[ratioName(ms, place)] ??= []).push(ours.added / xpdbCalculated);
					details.push({ run, delayMs: ms, on: place.name, ours, bare, xpdbCalculated });
					const inRoundTrips = (added: number): string =>
						`${added.toFixed(0)} ms (${(added / ms).toFixed(1)} round trips)`;
					bench.log(
						`  run ${run}, ${ms} ms ${place.what} add, p50: ${inRoundTrips(ours.added)} to ${ours.near.toFixed(0)} ms; ` +
							`bare ${inRoundTrips(bare.added)} to ${bare.near.toFixed(0)} ms; x-pdb by calculation ${inRoundTrips(xpdbCalculated)}`,
					);
				}
			}
		}
		return { ratios, details: { eachRun: details } };
	},
};

function ratioName(ms: number, place: Place): string {
	return `links_${ms}_${place.name}_vs_xpdb_design`;
}

/** Medians in milliseconds. `near` is without the delay. */
interface Middle {
	readonly near: number;
	/** The median difference within a pair of evictions. */
	readonly added: number;
}

async function takeTurns(
	bench: Bench,
	workload: Workload,
	{ place, ms }: { readonly place: Place; readonly ms: number },
): Promise<Readonly<Record<"ours" | "bare", Middle>>> {
	await workload.ready();
	const pods = [...(await benchPods(workload))];
	const links = (await bench.fleet.control.listLinks()).filter(place.hasDelay);
	const setDelay = async (delayMs: number): Promise<void> => {
		for (const link of links) await bench.fleet.control.setLink(link, delayMs === 0 ? {} : { delayMs });
	};
	const engine = await openEvictor(bench);
	const evictors = { ours: engine, bare: bareEvictor(bench) };
	const near = { ours: new Array<number>(), bare: new Array<number>() };
	const added = { ours: new Array<number>(), bare: new Array<number>() };
	try {
		for (let turn = -turnsBefore; turn < turns; turn += 1) {
			for (const name of ["ours", "bare"] as const) {
				await setDelay(0);
				const without = await timeOf(evictors[name], pods.shift());
				await setDelay(ms / 2);
				const withDelay = await timeOf(evictors[name], pods.shift());
				if (turn < 0) continue;
				near[name].push(without);
				added[name].push(withDelay - without);
			}
		}
	} finally {
		await setDelay(0);
		await engine.close();
	}
	const middle = (name: "ours" | "bare"): Middle => ({ near: median(near[name]), added: median(added[name]) });
	return { ours: middle("ours"), bare: middle("bare") };
}

async function timeOf(evictor: Evictor, pod: BenchPod | undefined): Promise<number> {
	if (!pod) throw new Error("the pods have run out");
	await delay(pauseMs);
	const startedAt = performance.now();
	await evictor.evict(pod);
	return performance.now() - startedAt;
}
