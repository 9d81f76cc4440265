// Limits the calls that one caller, and all callers together, may have open at the same time. An Acquire counts in proportion to the memory
// of its request. Other calls have their own limits, so that waiting callers do not block their own renewals and commits.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { Caller } from "../peers/caller.ts";

/** A call with its stream takes 15 KB. 50 candidates take as much again. */
const candidatesPerUnit = 50;
/** 15 MB of the 120 MB that a working agent leaves of its limit of 224Mi. */
const maxUnits = 1_000;
/** A team may share an account, and a member calls for all its users. A fifth remains for others. */
const maxPerParty = 800;
/** A drain may wait for one Lease of each of its budgets at the same time. */
const maxPerToken = 400;
/**
 * A watch holds the latest state of each budget for a slow reader, 100 KB at 1,000 budgets. 100 watches hold about a tenth of the 120 MB.
 */
const watches = { all: 100, perParty: 80, perToken: 40 };

export class OpenCalls {
	readonly #byKey = new Map<string, number>();
	readonly #cluster: string;

	constructor(cluster: string) {
		this.#cluster = cluster;
	}

	/**
	 * Counts an Acquire until the returned function is called. Throws AgentUnavailableError if the caller, or all callers together, have
	 * too many open.
	 */
	beginAcquire(caller: Caller, candidates: number): () => void {
		return this.#begin([...boundsOf("acquire", caller)], 1 + Math.ceil(candidates / candidatesPerUnit));
	}

	/** As beginAcquire(), for any other call. */
	begin(caller: Caller): () => void {
		return this.#begin([...boundsOf("other", caller)], 1);
	}

	beginWatch(caller: Caller): () => void {
		return this.#begin([...boundsOf("watch", caller, watches)], 1);
	}

	#begin(bounds: readonly Bound[], units: number): () => void {
		for (const { key, max, problem } of bounds) {
			if ((this.#byKey.get(key) ?? 0) + units > max) this.#refuse(problem);
		}
		for (const { key } of bounds) this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + units);
		let isOver = false;
		return () => {
			if (isOver) return;
			isOver = true;
			for (const { key } of bounds) {
				const left = (this.#byKey.get(key) ?? units) - units;
				if (left === 0) this.#byKey.delete(key);
				else this.#byKey.set(key, left);
			}
		};
	}

	#refuse(why: string): never {
		throw new AgentUnavailableError(
			`cannot take another call in cluster "${this.#cluster}": ${why}; it may be asked again when some have ended`,
			this.#cluster,
		);
	}
}

interface Bound {
	readonly key: string;
	readonly max: number;
	readonly problem: string;
}

const calls = { all: maxUnits, perParty: maxPerParty, perToken: maxPerToken };

function* boundsOf(kind: "acquire" | "other" | "watch", caller: Caller, most: typeof calls = calls): Generator<Bound> {
	const tooMany = (who: string): string => `${who} has as many open as one may have`;
	const party = caller.kind === "token" ? "this account" : "this member";
	yield { key: `${kind} ${partyOf(caller)}`, max: most.perParty, problem: tooMany(party) };
	if (caller.kind === "token") {
		yield { key: `${kind} token ${caller.tokenHash}`, max: most.perToken, problem: tooMany("this token") };
	}
	yield { key: kind, max: most.all, problem: "it has as many open as it can serve" };
}

/** Returns the party of a caller: all callers that share one account, or call through one member, are one party. */
export function partyOf(caller: Caller): string {
	return caller.kind === "token" ? `user ${caller.user.username}` : `member ${caller.member}`;
}
