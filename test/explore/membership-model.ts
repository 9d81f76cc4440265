// Checks the rule about members with the shipped KnownMembers. Two agents of one cluster answer from its list of members while a person
// edits the list. Requests, watches and restarts come in random orders.
//
// The rule: an answer must not rest on a list that lacks a cluster of an earlier answer, or one that had greeted this cluster before. The
// exception is a cluster that the list names as forgotten. "Earlier" means that it was over when the later answer began. For the other
// agent, a greeting counts once its watch has shown it.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import { KnownMembers, withKnownMembers } from "../../agent/leases/known-members.ts";
import { leaseViewOf, ObjectStore } from "../../agent/views/object-views.ts";
import { AgentUnavailableError, FleetsDifferError } from "../../disruption/errors.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { scheduleSeed, seededRandom } from "./random.ts";
import { clusterApi, SimulatedApiServer } from "./simulated-api.ts";

export interface MembershipScenario {
	readonly name: string;
	/** The declared lists, one after the other. "-x" means that x is forgotten. The first list is there from the start. */
	readonly lists: readonly (readonly string[])[];
	readonly answers: readonly [number, number];
	/** The cluster that greets the first agent, if there is one. */
	readonly greeter?: string;
	/** Whether the second agent can restart once. */
	readonly restarts?: boolean;
	/** If set, only these steps begin, in this order, each when no agent is busy. Requests in between are answered in any order. */
	readonly staged?: readonly string[];
	/** How many reads or writes of a Lease can be lost: the request, or only its answer. */
	readonly losses?: number;
}

export const membershipScenarios: readonly MembershipScenario[] = [
	{ name: "shortened", lists: [["a", "b"], ["a"]], answers: [1, 2], losses: 1 },
	{ name: "longer for a moment", lists: [["a"], ["a", "b"], ["a"]], answers: [1, 2] },
	{
		name: "longer in between",
		lists: [["a"], ["a", "b"], ["a"]],
		answers: [1, 2],
		// The watch of agent 1 is alive but late.
		staged: [
			"agent 1 is asked",
			"agent 1 sees",
			"list 1 is declared",
			"agent 0 is asked",
			"list 2 is declared",
			"agent 1 is asked",
		],
	},
	{
		name: "moved",
		lists: [
			["a", "b"],
			["a", "c"],
		],
		answers: [1, 1],
		restarts: true,
	},
	{
		name: "forgotten",
		lists: [
			["a", "b"],
			["a", "-b"],
		],
		answers: [1, 2],
	},
	{ name: "greeted", lists: [["a"]], answers: [2, 2], greeter: "g", losses: 1 },
	{ name: "greeted and shortened", lists: [["a", "b"], ["a"]], answers: [1, 1], greeter: "g", restarts: true },
];

export interface MembershipResult {
	readonly schedules: number;
	/** What went wrong in the first run that broke the rule, and its steps. */
	readonly violation: string | undefined;
}

/** Runs the scenario's steps in `most` random orders, or until one breaks the rule. */
export async function exploreMembership(
	scenario: MembershipScenario,
	most: number,
	seed = 1,
): Promise<MembershipResult> {
	for (let schedules = 1; ; schedules += 1) {
		const random = seededRandom(scheduleSeed(seed, scenario.name, schedules));
		const run = new MembershipRun(scenario, (of) => Math.floor(random() * of));
		const violation = await run.toItsEnd();
		if (violation !== undefined) return { schedules, violation: `${violation}: ${run.history.join(", ")}` };
		if (schedules === most) return { schedules, violation: undefined };
	}
}

interface Step {
	readonly what: string;
	run(): void;
}

interface Obeyed {
	readonly ids: readonly string[];
	/** The number of steps before the answer ended. Steps serve as the clock. */
	readonly endedAt: number;
}

class MembershipRun {
	readonly history: string[] = [];
	readonly #scenario: MembershipScenario;
	readonly #choose: (of: number) => number;
	readonly #server = new SimulatedApiServer({ clusterId: "a" });
	readonly #agents: readonly SimulatedMember[];
	readonly #obeyed: Obeyed[] = [];
	#lists = 0;
	#stages = 0;
	#losses: number;
	#greeted = false;
	#restarts: number;
	#violation: string | undefined;

	/** `choose` returns the index of the next of `of` steps. */
	constructor(scenario: MembershipScenario, choose: (of: number) => number) {
		this.#scenario = scenario;
		this.#choose = choose;
		this.#losses = scenario.losses ?? 0;
		this.#restarts = scenario.restarts ? 1 : 0;
		this.#declareNext();
		this.#agents = scenario.answers.map(
			(answers, index) => new SimulatedMember(`agent ${index}`, this.#server, answers),
		);
	}

	/** Returns what went wrong, if anything did. */
	async toItsEnd(): Promise<string | undefined> {
		for (;;) {
			const steps = this.#steps();
			if (steps.length === 0 || this.#violation !== undefined) break;
			const step = steps[this.#choose(steps.length)];
			if (!step) throw new Error("a run that does not repeat itself");
			this.history.push(step.what);
			if (step.what === this.#scenario.staged?.[this.#stages]) this.#stages += 1;
			step.run();
			await new Promise<void>(setImmediate);
		}
		return this.#violation ?? (await this.#neverSettled());
	}

	#steps(): readonly Step[] {
		const steps = this.#allSteps();
		const { staged } = this.#scenario;
		if (!staged) return steps;
		const next = this.#agents.some(({ busy }) => busy) ? undefined : staged[this.#stages];
		return steps.filter(({ what }) => what.includes(" is answered ") || what === next);
	}

	#allSteps(): readonly Step[] {
		const steps: Step[] = [];
		if (this.#lists < this.#scenario.lists.length) {
			steps.push({ what: `list ${this.#lists} is declared`, run: () => this.#declareNext() });
		}
		const [first, second] = this.#agents;
		for (const agent of this.#agents) {
			const { name } = agent;
			if (agent.call) steps.push({ what: `${name} is answered to ${agent.call.what}`, run: () => agent.carry() });
			else if (!agent.busy && agent.answersLeft > 0) {
				steps.push({ what: `${name} is asked`, run: () => this.#ask(agent) });
			}
			if (agent.call && agent.call.what.includes("leases") && this.#losses > 0) {
				const lose = (isDone: boolean) => () => {
					this.#losses -= 1;
					agent.lose(isDone);
				};
				steps.push({ what: `${name} loses ${agent.call.what}`, run: lose(false) });
				steps.push({ what: `${name} loses the answer to ${agent.call.what}`, run: lose(true) });
			}
			if (agent.isBehind) steps.push({ what: `${name} sees`, run: () => agent.see() });
		}
		const { greeter } = this.#scenario;
		if (greeter !== undefined && first && !first.busy && !this.#greeted) {
			steps.push({ what: `${first.name} is greeted`, run: () => this.#greet(first, greeter) });
		}
		if (second && !second.busy && this.#restarts > 0) {
			const run = (): void => {
				this.#restarts -= 1;
				second.startAnew();
			};
			steps.push({ what: `${second.name} starts anew`, run });
		}
		return steps;
	}

	#declareNext(): void {
		const entries = this.#scenario.lists[this.#lists] ?? [];
		this.#lists += 1;
		this.#server.fleet = fleetOf(entries, this.#lists);
	}

	#ask(agent: SimulatedMember): void {
		const begunAt = this.history.length;
		const greeters = [...agent.greeters()];
		agent.answersLeft -= 1;
		agent.does(async () => {
			const { members, forgotten } = await agent.getFleet();
			const ids = members.map(({ id }) => id);
			const resolved = new Set([...ids, ...forgotten.map(({ id }) => id)]);
			const before = this.#obeyed.filter(({ endedAt }) => endedAt < begunAt).flatMap((each) => each.ids);
			const missing = [...before, ...greeters].find((id) => !resolved.has(id));
			if (missing !== undefined) this.#violation ??= `${agent.name} obeys [${ids.join(" ")}] without "${missing}"`;
			this.#obeyed.push({ ids, endedAt: this.history.length });
		});
	}

	#greet(agent: SimulatedMember, id: string): void {
		this.#greeted = true;
		agent.does(async () => {
			await agent.known.learn([{ id, name: id }]);
			for (const each of this.#agents) each.greetedBy(id, each === agent, this.#server.revision);
		});
	}

	/** Once every named cluster is listed or forgotten, each agent must obey the list. */
	async #neverSettled(): Promise<string | undefined> {
		this.#server.fleet = fleetOf(["a", "-b", "-c", "-g"], this.#lists + 1);
		for (const agent of this.#agents) {
			let settled: DeclaredFleet | undefined;
			agent.does(async () => {
				settled = await agent.getFleet();
			});
			// An agent needs ten requests at most.
			for (let turn = 0; turn < 10; turn += 1) {
				await new Promise<void>(setImmediate);
				agent.carry();
			}
			if (!settled) return `${agent.name} refuses, though everybody is listed or forgotten`;
		}
		return undefined;
	}
}

function fleetOf(entries: readonly string[], version: number): DeclaredFleet {
	const forgotten = entries.filter((entry) => entry.startsWith("-")).map((entry) => ({ id: entry.slice(1) }));
	const members = entries.filter((entry) => !entry.startsWith("-")).map((id) => ({ id, name: id }));
	return { version: String(version), members, forgotten };
}

interface PendingCall {
	readonly what: string;
	execute(): void;
	reject(): void;
}

/** One agent. Its requests wait until they are carried. */
class SimulatedMember {
	readonly name: string;
	answersLeft: number;
	busy = false;
	call: PendingCall | undefined;
	known: KnownMembers;
	readonly #server: SimulatedApiServer;
	readonly #api: ClusterApi;
	readonly #clock = createManualClock();
	readonly #greeters = new Map<string, number>();
	#store: ObjectStore<LeaseObject>;
	#shown = 0;

	constructor(name: string, server: SimulatedApiServer, answers: number) {
		this.name = name;
		this.answersLeft = answers;
		this.#server = server;
		this.#api = clusterApi(server, (call) => {
			const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof call.execute>>();
			this.call = {
				what: `${call.verb} ${call.resource}`,
				execute: () => {
					try {
						resolve(call.execute());
					} catch (error) {
						reject(error);
					}
				},
				reject: () => reject(new AgentUnavailableError("lost", name)),
			};
			return promise;
		});
		[this.#store, this.known] = this.#start();
	}

	get isBehind(): boolean {
		return this.#shown < this.#server.leaseEvents.length;
	}

	/** Yields the clusters that have greeted this cluster, as far as this agent must know. */
	*greeters(): Iterable<string> {
		for (const [id, revision] of this.#greeters) if (this.#shownRevision() >= revision) yield id;
	}

	greetedBy(id: string, here: boolean, revision: number): void {
		this.#greeters.set(id, here ? 0 : revision);
	}

	async getFleet(): Promise<DeclaredFleet> {
		return withKnownMembers(this.#api, this.known).getFleet();
	}

	carry(): void {
		const { call } = this;
		this.call = undefined;
		call?.execute();
	}

	/** Loses the pending request. With `isDone`, it is executed, and only its answer is lost. */
	lose(isDone: boolean): void {
		const { call } = this;
		this.call = undefined;
		call?.reject();
		if (isDone) call?.execute();
	}

	see(): void {
		for (const event of this.#server.leaseEvents.slice(this.#shown)) this.#store.apply(event);
		this.#shown = this.#server.leaseEvents.length;
	}

	startAnew(): void {
		this.known.close();
		[this.#store, this.known] = this.#start();
	}

	does(work: () => Promise<void>): void {
		this.busy = true;
		work()
			.catch((error: unknown) => {
				if (!(error instanceof FleetsDifferError || error instanceof AgentUnavailableError)) throw error;
			})
			.finally(() => {
				this.busy = false;
			});
	}

	#shownRevision(): number {
		return Number(this.#server.leaseEvents[this.#shown - 1]?.resourceVersion ?? 0);
	}

	#start(): [ObjectStore<LeaseObject>, KnownMembers] {
		const store = new ObjectStore<LeaseObject>({ clock: this.#clock, keyOf: ({ name }) => name });
		store.replace([...this.#server.leases.values()], String(this.#server.revision));
		store.signOfLife(this.#clock.now());
		this.#shown = this.#server.leaseEvents.length;
		const known = new KnownMembers({
			api: this.#api,
			leases: leaseViewOf(store),
			clock: this.#clock,
			cluster: "a",
			fleetConfigMap: "xpdb-system/xpdb-fleet",
		});
		return [store, known];
	}
}
