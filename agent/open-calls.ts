// What one caller may have open at once. A waiting Acquire holds what it asked for, a round asks for a budget in each
// cluster: the weights follow the memory.
import { AgentUnavailableError } from "../disruption/errors.ts";
import type { Caller } from "./caller.ts";

/** A call with its stream, 15 KB; 50 candidates more or less as much again. */
const candidatesPerUnit = 50;
/** 15 MB of the 60 MB between an agent at work and its limit of 160Mi. */
const maxUnits = 1_000;
/** An account that a team shares, a member with all its people: a fifth stays for others. */
const maxPerParty = 800;
/** A drain waits for one Lease of each of its budgets at once. */
const maxPerToken = 400;

export class OpenCalls {
	readonly #byKey = new Map<string, number>();
	readonly #cluster: string;
	#open = 0;

	/** `cluster`: its name, for messages. */
	constructor(cluster: string) {
		this.#cluster = cluster;
	}

	/** Counts the call until the returned function is called; throws AgentUnavailableError where the caller has too many. */
	begin(caller: Caller, candidates: number): () => void {
		const units = 1 + Math.ceil(candidates / candidatesPerUnit);
		const bounds = [...boundsOf(caller)];
		for (const { key, max, who } of bounds) {
			if ((this.#byKey.get(key) ?? 0) + units > max) this.#refuse(`${who} has as many open as one may have`);
		}
		if (this.#open + units > maxUnits) this.#refuse("it has as many open as it can serve");
		this.#open += units;
		for (const { key } of bounds) this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + units);
		let isOver = false;
		return () => {
			if (isOver) return;
			isOver = true;
			this.#open -= units;
			for (const { key } of bounds) {
				const left = (this.#byKey.get(key) ?? units) - units;
				if (left === 0) this.#byKey.delete(key);
				else this.#byKey.set(key, left);
			}
		};
	}

	#refuse(why: string): never {
		throw new AgentUnavailableError(
			`Cannot take another call in cluster "${this.#cluster}": ${why}; it may be asked again when some have ended`,
			this.#cluster,
		);
	}
}

interface Bound {
	readonly key: string;
	readonly max: number;
	/** For people. */
	readonly who: string;
}

function* boundsOf(caller: Caller): Generator<Bound> {
	yield { key: partyOf(caller), max: maxPerParty, who: caller.kind === "token" ? "this account" : "this member" };
	if (caller.kind === "token") yield { key: `token ${caller.tokenHash}`, max: maxPerToken, who: "this token" };
}

/** Whoever shares one account, or calls through one member, is one party. */
export function partyOf(caller: Caller): string {
	return caller.kind === "token" ? `user ${caller.user.username}` : `member ${caller.member}`;
}
