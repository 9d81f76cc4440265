// Greets the known clusters and receives greetings, so that a cluster learns of members that its list lacks.
//
// Guarantee: a cluster whose greeting was answered is known from then on (known-members.ts). A greeting makes no other cluster known,
// forgotten or listed. A lost greeting changes nothing: a missing member is only noticed later.
//
// One agent of a cluster greets, the one that keeps the line (replicas.ts). It greets all others when it starts, and then a few in each pass,
// those first that were not greeted for the longest time (proto/greeting-round.ts). The other agents learn from it whom it has heard, and
// greet themselves if it does not answer.
//
// The plugin carries no greetings: a user with a token could name clusters that do not exist, and all rounds would be refused until these
// are forgotten. Instead, the plugin compares the fleets that the agents report, and refuses its own run if they differ
// (plugin/fleet/fleet.ts).
import { type ServiceError, status } from "@grpc/grpc-js";
import { AgentProtocolError, FleetsDifferError } from "../../disruption/errors.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import type { AgentCluster, HeardMember } from "../../proto/agent-cluster.ts";
import type { Greeting, GreetingReply } from "../../proto/greet.ts";
import { greetEveryMs, mostGreeted } from "../../proto/greeting-round.ts";
import type { KnownMembers } from "../leases/known-members.ts";
import type { Clock } from "../process/clock.ts";
import type { PeriodicJob } from "../process/periodic-work.ts";

/** Spreads the greetings of agents that started together. */
const jitter = 0.2;
/** Members greeted at the same time. If none of 50 members answers, a pass takes about 20 s. */
const atOnce = 12;

export interface GreetingReceiver {
	/** The id of this agent's cluster. */
	readonly id: string;
	readonly name: string;
	receive(greeting: Greeting): Promise<GreetingReply>;
}

export interface GreetingTarget {
	readonly id: string;
	readonly name: string;
	/** HOST:PORT. */
	readonly address: string;
}

export interface GreetingsOptions {
	readonly local: { readonly id: string; readonly name: string };
	readonly known: Pick<KnownMembers, "known" | "learn" | "judge">;
	readonly greet: (target: GreetingTarget, greeting: Greeting) => Promise<GreetingReply>;
	/** Returns the agent of this cluster that greets. Undefined if it is this agent. If left out, it is always this agent. */
	readonly greeter?: (() => Pick<AgentCluster, "describe"> | undefined) | undefined;
	/** Closes the connections to clusters that are not among `targets`. */
	readonly keep: (targets: readonly GreetingTarget[]) => void;
	readonly clock: Pick<Clock, "now">;
	/** From 0 to 1. */
	readonly random: () => number;
	readonly onGreeted: (outcome: "answered" | "failed" | "unimplemented") => void;
	readonly report: (problem: unknown) => void;
}

export class Greetings {
	readonly #options: GreetingsOptions;
	/** The last problem of each member, so that it is not reported again every 30 s. */
	readonly #told = new Map<string, string>();
	readonly #heardAt = new Map<string, number>();
	/** By member id: when this agent last greeted it. Empty before the first pass. */
	#greetedAt = new Map<string, number>();
	readonly job: PeriodicJob = {
		isDueAtOnce: true,
		pauseMs: () => greetEveryMs * (1 - jitter * this.#options.random()),
		pass: (ending) => this.greetAll(ending),
	};

	constructor(options: GreetingsOptions) {
		this.#options = options;
	}

	async receive({ id, name }: Greeting): Promise<GreetingReply> {
		const { known, local } = this.#options;
		if (id !== local.id) await known.learn([{ id, name: printableName(name) ?? id }]);
		// learn() rejects if there are too many clusters, so the number of entries is bounded.
		if (id !== local.id) this.#hear(id, 0);
		const { members, forgotten } = (await known.judge()).fleet;
		return {
			memberIds: members.map((member) => member.id),
			listed: members.some((member) => member.id === id),
			forgotten: forgotten.some((member) => member.id === id),
		};
	}

	/** Returns the other clusters that this agent has heard from since it started. */
	heard(): readonly HeardMember[] {
		const now = this.#options.clock.now();
		return [...this.#heardAt].map(([id, at]) => ({ id, agoMs: Math.max(0, now - at) }));
	}

	/** Greets the targets whose turn it is, in the first pass all of them, until `ending` aborts. */
	async greetAll(ending?: AbortSignal): Promise<void> {
		const { known, local, greeter } = this.#options;
		// Also records the listed members, even if no caller requests a count.
		const { fleet } = await known.judge();
		const greeting = { ...local, memberIds: fleet.members.map(({ id }) => id) };
		const targets = this.#targets(fleet);
		this.#options.keep(targets);
		const other = greeter?.();
		if (other && (await this.#hearFrom(other))) return;
		const waiting = this.#whoseTurn(targets);
		const greetSome = async (): Promise<void> => {
			for (let target = waiting.pop(); target; target = waiting.pop()) {
				if (ending?.aborted === true) return;
				await this.#greet(target, greeting);
			}
		};
		await Promise.all(Array.from({ length: atOnce }, greetSome));
	}

	/** Takes over whom another agent of this cluster has heard. Returns false if that agent does not answer. */
	async #hearFrom(other: Pick<AgentCluster, "describe">): Promise<boolean> {
		try {
			const { heard = [] } = await other.describe();
			for (const { id, agoMs } of heard) this.#hear(id, agoMs);
			return true;
		} catch {
			return false;
		}
	}

	/** Returns the targets that were not greeted for the longest time. pop() takes the first of them. */
	#whoseTurn(targets: readonly GreetingTarget[]): GreetingTarget[] {
		const isFirst = this.#greetedAt.size === 0;
		const greetedAt = (id: string): number => this.#greetedAt.get(id) ?? Number.NEGATIVE_INFINITY;
		const turn = targets
			.toSorted((a, b) => greetedAt(a.id) - greetedAt(b.id))
			.slice(0, isFirst ? targets.length : mostGreeted);
		const now = this.#options.clock.now();
		const chosen = new Set(turn.map(({ id }) => id));
		this.#greetedAt = new Map(targets.map(({ id }) => [id, chosen.has(id) ? now : greetedAt(id)]));
		return turn.toReversed();
	}

	/** Returns the clusters to greet. A listed address replaces the remembered one. */
	#targets({ members, forgotten }: DeclaredFleet): GreetingTarget[] {
		const { known, local } = this.#options;
		const forgottenIds = new Set(forgotten.map(({ id }) => id));
		const all = new Map([...known.known, ...members].map((member) => [member.id, member] as const));
		return [...all.values()].flatMap(({ id, name, address }) =>
			address === undefined || id === local.id || forgottenIds.has(id) ? [] : [{ id, name, address }],
		);
	}

	async #greet(target: GreetingTarget, greeting: Greeting): Promise<void> {
		const { greet, local, onGreeted } = this.#options;
		const { id, name } = target;
		try {
			const { listed, forgotten } = await greet(target, greeting);
			this.#hear(id, 0);
			onGreeted("answered");
			const why = forgotten ? "has forgotten" : "does not list";
			const problem = new FleetsDifferError(
				`Cluster "${name}" (id ${id}) ${why} cluster "${local.name}" (id ${local.id}) in its ConfigMap xpdb-fleet: ` +
					"the same members must be listed in every cluster",
			);
			this.#tell(id, listed ? "" : why, problem);
		} catch (error) {
			const unknown = error instanceof AgentProtocolError && codeOf(error.cause) === status.UNIMPLEMENTED;
			onGreeted(unknown ? "unimplemented" : "failed");
			this.#tell(id, unknown ? "" : "failed", error);
		}
	}

	#hear(id: string, agoMs: number): void {
		const at = this.#options.clock.now() - agoMs;
		this.#heardAt.set(id, Math.max(at, this.#heardAt.get(id) ?? at));
	}

	/**
	 * Reports the problem unless `what` is the same as the last time for this member; "" means no problem. The error itself cannot be
	 * compared, because its text differs each time.
	 */
	#tell(id: string, what: string, problem: unknown): void {
		if (what !== "" && this.#told.get(id) !== what) this.#options.report(problem);
		this.#told.set(id, what);
	}
}

/** Returns the name if it is safe to show to people. */
function printableName(name: string): string | undefined {
	return /^[\p{L}\p{N}][\p{L}\p{N} ._/:-]{0,62}$/u.exec(name)?.[0];
}

function codeOf(cause: unknown): number | undefined {
	const { code } = cause instanceof Error ? (cause as Partial<ServiceError>) : {};
	return code;
}
