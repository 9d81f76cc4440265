// Summarizes the state of a run without versions, ids and clocks. The number of new summaries shows whether more schedules of a scenario
// are worth their time. The lag of views is left out, because it would make the number of states endless.
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { World } from "./world.ts";

const leaseWords = new WeakMap<LeaseObject, string>();

/** Returns a 32-bit FNV-1a hash of the summary. */
export function abstractState(world: World): number {
	const words: string[] = [];
	for (const { server, workloads } of world.clusters) {
		for (const lease of server.leases.values()) words.push(wordOf(lease));
		for (const { slots } of workloads) {
			words.push(slots.map(({ down, pod }) => (down ? down.cause.charAt(0) : pod ? "u" : "n")).join(""));
		}
	}
	for (const { name, finished, alive, evicted } of world.drains) {
		words.push(`${name} ${finished ? "done" : alive ? "" : "dead"} ${evicted}`);
		const waiting = world.network.waiting(name);
		if (waiting.some((what) => what.startsWith("commit"))) words.push("commit");
		else if (waiting.some((what) => what.startsWith("evict"))) words.push("evict");
	}
	for (const { name } of world.scenario.events ?? []) words.push(String(world.times(name)));
	return hashText(words.join("|"));
}

/** In a reservation's row, index 2 is the pod, and index 6 tells whether the reservation is being cancelled. */
function wordOf(lease: LeaseObject): string {
	const known = leaseWords.get(lease);
	if (known !== undefined) return known;
	const text = lease.annotations["xpdb.form3.tech/state"] ?? "{}";
	const { phase, reservations = [] } = parsed(text);
	const reserved = JSON.stringify(reservations.map((row) => [row[2], row[6]]));
	const word = `${lease.spec.holderIdentity ?? phase} ${reserved}`;
	leaseWords.set(lease, word);
	return word;
}

function parsed(text: string): { readonly phase?: string; readonly reservations?: readonly (readonly unknown[])[] } {
	try {
		return JSON.parse(text) as ReturnType<typeof parsed>;
	} catch {
		return { phase: "garbled" };
	}
}

function hashText(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	return hash >>> 0;
}
