// Keeps kubectl's outcomes from an earlier run, because they change only with kubectl's version and the situation.
// XPDB_KUBECTL=play plays all situations again, each night, and compares them. XPDB_KUBECTL=record keeps the new outcomes.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../scripts/repository-root.ts";
import type { Place } from "./objects.ts";
import type { Outcome } from "./outcome.ts";
import type { Stage } from "./scene.ts";
import type { Situation } from "./situation.ts";

interface Recording {
	/** kubectl's version, such as "v1.36.3". */
	readonly kubectl: string;
	/** By the situation's name. `situation` is a fingerprint. */
	readonly outcomes: Readonly<Record<string, { readonly situation: string; readonly outcome: Outcome }>>;
}

const path = join(repositoryRoot, "test", "e2e", "parity", "recorded-outcomes.json");

export class RecordedOutcomes {
	readonly #kubectl: string;
	readonly #recording: Recording;
	readonly #mode: string;

	/** `kubectl` is the version of kubectl. */
	constructor(kubectl: string, environment: NodeJS.ProcessEnv = process.env) {
		this.#kubectl = kubectl;
		this.#mode = environment["XPDB_KUBECTL"] ?? "";
		const kept = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Recording) : undefined;
		this.#recording = kept?.kubectl === kubectl ? kept : { kubectl, outcomes: {} };
	}

	/** Returns kubectl's outcome of exactly this situation, or undefined if kubectl must be run. */
	find(situation: Situation): Outcome | undefined {
		return this.#mode === "" ? this.#kept(situation) : undefined;
	}

	/** Returns the recorded and the played outcome if they differ. In a recording run, always returns undefined. */
	difference(situation: Situation, played: Outcome): { readonly kept: Outcome; readonly played: Outcome } | undefined {
		const kept = this.#mode === "record" ? undefined : this.#kept(situation);
		return kept !== undefined && JSON.stringify(kept) !== JSON.stringify(played) ? { kept, played } : undefined;
	}

	/** Does nothing unless this is a recording run. */
	record(outcomes: ReadonlyMap<Situation, Outcome>): void {
		if (this.#mode !== "record") return;
		const entries = [...outcomes].map(([situation, outcome]) => {
			return [situation.name, { situation: fingerprintOf(situation), outcome }] as const;
		});
		const recording: Recording = { kubectl: this.#kubectl, outcomes: Object.fromEntries(entries) };
		writeFileSync(path, `${JSON.stringify(recording, undefined, "\t")}\n`);
	}

	#kept(situation: Situation): Outcome | undefined {
		const entry = this.#recording.outcomes[situation.name];
		return entry?.situation === fingerprintOf(situation) ? entry.outcome : undefined;
	}
}

/** Covers the objects and commands, but not `prepare` and `during`, whose changes only the nightly run shows. */
function fingerprintOf({
	objects,
	commands,
	nodes,
	cordoned,
	user,
	ownContext,
	env,
	withoutAgents,
}: Situation): string {
	const place: Place = { namespace: "parity", node: (letter) => `parity-${letter}` };
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- objects take no more than these from it
	const stage = { cluster: "c", webhook: { address: "https://webhook", caBundle: "" } } as Stage;
	const all = [objects?.(place, stage), commands(place), nodes, cordoned, user, ownContext, env, withoutAgents];
	return createHash("sha256")
		.update(JSON.stringify(all.map((each) => each ?? null)))
		.digest("hex")
		.slice(0, 16);
}
