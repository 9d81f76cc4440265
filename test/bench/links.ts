// Round trips: one eviction at a time with a delay on the links between the clusters and from the plugin to the API servers, and with
// one on every link, the agents' way to their own API server too. Beside it bare calls on the same links, and x-pdb's design, which is
// not run here but calculated.
import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { type BenchPod, bareEvictor, type Evictor, openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { median } from "./statistics.ts";
import { createRoomyWorkload, type Workload } from "./workload.ts";

const pairs = 12;
const pauseMs = 100;
/** Of a round trip on each link. */
const delays = [20, 80] as const;

interface Place {
	readonly name: "between" | "everywhere";
	readonly what: string;
	/** By the link's name: "plugin->c1", "c1->c2", "c1->c1" from the agents of c1 to their API server. */
	readonly hasDelay: (link: string) => boolean;
	/**
	 * x-pdb's own, beside those of a bare eviction. Lock at all other clusters at once and GetState at all others at once are a round trip
	 * between clusters each. To the API servers: its Lease is read and written here, then, as a part of Lock, there.
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
		// What is new is slow: code that is compiled, connections of agents to each other.
		await takeTurns(bench, workload);
		for (let run = 1; run <= runs; run += 1) {
			const near = await takeTurns(bench, workload);
			for (const place of places) {
				for (const ms of delays) {
					const far = await withDelay(bench, place, ms, () => takeTurns(bench, workload));
					const xpdb = far.bare + place.roundTripsOfXpdb * ms;
					const roundTrips = (far.ours - near.ours) / ms;
					(ratios[ratioName(ms, place)] ??= []).push(far.ours / xpdb);
					details.push({ run, delayMs: ms, on: place.name, far, near, xpdbCalculatedMs: xpdb, roundTrips });
					bench.log(
						`  run ${run}, ${ms} ms ${place.what}: p50 ${far.ours.toFixed(0)} ms (${roundTrips.toFixed(1)} round trips), ` +
							`bare ${far.bare.toFixed(0)} ms, x-pdb by calculation at least ${xpdb.toFixed(0)} ms`,
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

interface Middle {
	readonly ours: number;
	readonly bare: number;
}

/** Milliseconds, p50. Agents of weeks are measured, not of seconds: the connections are there. */
async function takeTurns(bench: Bench, workload: Workload): Promise<Middle> {
	await workload.ready();
	const pods = [...(await benchPods(workload))];
	const engine = await openEvictor(bench);
	const bare = bareEvictor(bench);
	const times = { ours: new Array<number>(), bare: new Array<number>() };
	const timeOf = async (evictor: Evictor, pod: BenchPod | undefined): Promise<number> => {
		if (!pod) throw new Error("the pods have run out");
		await delay(pauseMs);
		const startedAt = performance.now();
		await evictor.evict(pod);
		return performance.now() - startedAt;
	};
	try {
		// The first of each opens connections.
		for (let pair = -3; pair < pairs; pair += 1) {
			const ours = await timeOf(engine, pods.shift());
			const bareCall = await timeOf(bare, pods.shift());
			if (pair < 0) continue;
			times.ours.push(ours);
			times.bare.push(bareCall);
		}
	} finally {
		await engine.close();
	}
	return { ours: median(times.ours), bare: median(times.bare) };
}

async function withDelay<T>(
	{ fleet: { control } }: Bench,
	place: Place,
	ms: number,
	work: () => Promise<T>,
): Promise<T> {
	const delayed = (await control.listLinks()).filter(place.hasDelay);
	try {
		for (const link of delayed) await control.setLink(link, { delayMs: ms / 2 });
		return await work();
	} finally {
		for (const link of delayed) await control.setLink(link, {});
	}
}
