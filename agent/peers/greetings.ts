// Greets every member that this agent knows, and receives greetings. So a cluster with too short a list learns of the members that it
// leaves out.
//
// Guarantee: a cluster that greets is known from then on (known-members.ts), whatever it says. Nothing else in a greeting can make a
// cluster known, forgotten or listed. A greeting that does not arrive changes nothing: a missing member is only noticed later.
//
// The plugin carries no greetings into clusters. Otherwise, a user with a token could name clusters that do not exist, and all rounds would
// be refused until a person forgets each of them. Instead, the plugin compares what the agents report of their fleets, and refuses its own
// run (plugin/fleet/fleet.ts).
import { type ServiceError, status } from "@grpc/grpc-js";
import { AgentProtocolError, FleetsDifferError } from "../../disruption/errors.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import type { HeardMember } from "../../proto/agent-cluster.ts";
import type { Greeting, GreetingReply } from "../../proto/greet.ts";
import type { KnownMembers } from "../leases/known-members.ts";
import type { Clock } from "../process/clock.ts";
import type { PeriodicJob } from "../process/periodic-work.ts";

/** One call to each member. A person who edits a list sees the effect after about half a minute. */
export const greetEveryMs = 30_000;
/** Agents that start together do not greet together. */
const jitter = 0.2;
/** How many members are greeted at the same time: a fleet of 50 that does not answer takes about five times the 4 s of a call. */
const atOnce = 12;

/** Receives the greetings that arrive. */
export interface GreetingReceiver {
	/** The id of this agent's cluster. */
	readonly id: string;
	readonly name: string;
	receive(greeting: Greeting): Promise<GreetingReply>;
}

/** A cluster to greet. */
export interface GreetingTarget {
	readonly id: string;
	readonly name: string;
	/** HOST:PORT. */
	readonly address: string;
}

export interface GreetingsOptions {
	/** This cluster. */
	readonly local: { readonly id: string; readonly name: string };
	readonly known: Pick<KnownMembers, "known" | "learn" | "judge">;
	readonly greet: (target: GreetingTarget, greeting: Greeting) => Promise<GreetingReply>;
	/** Closes the connections to all clusters but these. */
	readonly keep: (targets: readonly GreetingTarget[]) => void;
	readonly clock: Pick<Clock, "now">;
	/** From 0 to 1. */
	readonly random: () => number;
	readonly onGreeted: (outcome: "answered" | "failed" | "unimplemented") => void;
	readonly report: (problem: unknown) => void;
}

export class Greetings {
	readonly #options: GreetingsOptions;
	/** What was last reported about a member, so that the same problem is not reported every 30 s. */
	readonly #told = new Map<string, string>();
	/** When each cluster was last heard from. */
	readonly #heardAt = new Map<string, number>();
	/** Greets when the agent starts, and at intervals. */
	readonly job: PeriodicJob = {
		isDueAtOnce: true,
		pauseMs: () => greetEveryMs * (1 - jitter * this.#options.random()),
		pass: (ending) => this.greetAll(ending),
	};

	constructor(options: GreetingsOptions) {
		this.#options = options;
	}

	/** Handles a greeting from another agent. */
	async receive({ id, name }: Greeting): Promise<GreetingReply> {
		const { known, local } = this.#options;
		if (id !== local.id) await known.learn([{ id, name: printableName(name) ?? id }]);
		// learn() rejects if there are too many clusters, so the number of entries is bounded.
		if (id !== local.id) this.#hear(id);
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

	/** Greets every target once, until `ending` aborts. */
	async greetAll(ending?: AbortSignal): Promise<void> {
		const { known, local } = this.#options;
		// Records the members of the list even if no caller requests a count.
		const { fleet } = await known.judge();
		const greeting = { ...local, memberIds: fleet.members.map(({ id }) => id) };
		const waiting = this.#targets(fleet);
		this.#options.keep(waiting);
		const greetSome = async (): Promise<void> => {
			for (let target = waiting.pop(); target; target = waiting.pop()) {
				if (ending?.aborted === true) return;
				await this.#greet(target, greeting);
			}
		};
		await Promise.all(Array.from({ length: atOnce }, greetSome));
	}

	/** Returns all members and all known clusters that are not forgotten and have an address, with the address that was last listed. */
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
			this.#hear(id);
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

	#hear(id: string): void {
		this.#heardAt.set(id, this.#options.clock.now());
	}

	/**
	 * Reports a problem, unless it is the one that was last reported for this member. `what` is "" if nothing is wrong. Problems are
	 * compared by `what`, because the text of a failure differs each time.
	 */
	#tell(id: string, what: string, problem: unknown): void {
		if (what !== "" && this.#told.get(id) !== what) this.#options.report(problem);
		this.#told.set(id, what);
	}
}

/** Returns a name that another cluster gave, if it may be shown to people. */
function printableName(name: string): string | undefined {
	return /^[\p{L}\p{N}][\p{L}\p{N} ._/:-]{0,62}$/u.exec(name)?.[0];
}

function codeOf(cause: unknown): number | undefined {
	const { code } = cause instanceof Error ? (cause as Partial<ServiceError>) : {};
	return code;
}
