// One plugin process: the shipped eviction engine, with members and API servers behind the simulated network.
//
// It stops, as after Ctrl-C, when its attempts are used up. A round or a reconnect uses up one attempt; a look or a list of budgets uses up
// a third.
import type { Cluster } from "../../disruption/budget/cluster.ts";
import { isDomainError, LeaseLostError } from "../../disruption/errors.ts";
import type { RoundVerdict } from "../../disruption/round/ticket.ts";
import type { RoundRequest } from "../../disruption/round/acquire-leases.ts";
import { runRound } from "../../disruption/round/round.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { RunEvent } from "../../plugin/events/events.ts";
import { createJob, type EvictionJob } from "../../plugin/evictions/eviction-job.ts";
import { type EvictionFleet, Evictions } from "../../plugin/evictions/evictions.ts";
import { createEvictor } from "../../plugin/evictions/send-eviction.ts";
import { LeftBehind } from "../../plugin/evictions/left-behind.ts";
import type { PodOutcome } from "../../plugin/evictions/pod-outcome.ts";
import { Reachability } from "../../plugin/fleet/reachability.ts";
import { FleetUncoveredError } from "../../plugin/terminal/errors.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { forwardingCluster } from "../../proto/forwarding-cluster.ts";
import { suggestDefault } from "../support/suggest-default.ts";
import { CommandJudge } from "./command-judge.ts";
import { Drain, type DrainWorld } from "./drain.ts";
import { drainNodes } from "./drained-nodes.ts";
import type { Oracle, RoundRecord } from "./oracle.ts";
import { pluginClient, toV1Pod } from "./plugin-client.ts";
import type { DrainData } from "./scenario.ts";
import { meetFleet } from "./met-fleet.ts";
import { simulatedFleet } from "./simulated-fleet.ts";
import { sleepOn } from "./simulated-process.ts";
import { namespace } from "./workload.ts";

/** How many pods of one name a process evicts, one after the other, if it follows the name. */
const mostFollowed = 2;
/** This many looks use up one attempt: about a second of waiting, because the first looks are 300 ms apart. */
const looksPerAttempt = 3;
/** Lists of budgets before the first round, which use up no attempt. */
const firstQuestions = 2;

export class PluginProcess extends Drain {
	/** Undefined until the process knows its fleet. */
	#evictions: Evictions | undefined;
	readonly #contextIds: readonly string[];
	readonly #leftBehind: LeftBehind;
	readonly #contexts: ReadonlyMap<string, KubeContext>;
	readonly #stop = new AbortController();
	readonly #timeout = new AbortController();
	/** By the ids that the rounds made, including those of their reservations. */
	readonly #rounds = new Map<string, RoundRecord>();
	/** By the pod's uid: the reservation that its delete uses. The delete itself names none. */
	readonly #deletedUnder = new Map<string, string>();
	readonly #judge: CommandJudge;
	#turns = 0;
	#isLoggedIn = false;
	#isPaused = false;

	constructor(data: DrainData, world: DrainWorld) {
		super(data, world);
		this.#judge = new CommandJudge(data, this.#stop.signal, (error) => world.bug(data.name, error));
		this.#leftBehind = new LeftBehind(this.runtime, () => undefined);
		this.#contexts = new Map(world.clusters.map(({ id }) => [id, this.#context(id)]));
		const names = [...data.pods, ...(data.nodes ?? [])].map((path) => path.slice(0, path.indexOf("/")));
		this.#contextIds = [...new Set([...names, ...(data.meets ?? [])])];
	}

	/** `judged` wraps a member so that the judge sees its calls. */
	#begin(fleet: EvictionFleet, judged: (member: AgentCluster) => AgentCluster): Evictions {
		const { data, world, runtime } = this;
		const emit = (event: RunEvent): void => this.#heard(event);
		const options = { gracePeriodSeconds: -1, deletes: data.deletes ?? false, dryRun: data.dryRun ?? false };
		const evictorOf = createEvictor(options, emit);
		return new Evictions({
			fleet: {
				listedAhead: fleet.listedAhead,
				get members() {
					return fleet.members.map(judged);
				},
				memberOf: (context) => {
					const member = fleet.memberOf(context);
					return member && judged(member);
				},
				listBudgets: (namespaces) => {
					this.#turn(1);
					world.oracle.lists(this);
					return fleet.listBudgets(namespaces);
				},
				reconnect: () => {
					this.#turn(looksPerAttempt);
					return fleet.reconnect();
				},
			},
			holder: data.name,
			options,
			evictor: (job, budgets) => {
				const evictor = evictorOf(job, budgets);
				return {
					...evictor,
					evict: (pod, preconditions, id, guard) => {
						this.#deletedUnder.set(pod.uid, id);
						return evictor.evict(pod, preconditions, id, guard);
					},
				};
			},
			runtime: { ...runtime, onLeftBehind: (problem, giveBack) => this.#leftBehind.add(problem, giveBack) },
			reachability: new Reachability(emit, () => this.clock.now()),
			stop: this.#stop.signal,
			emit,
			waitsUntilGone: data.nodes !== undefined,
			skipWaitAfterSeconds: 0,
			wallClock: () => this.clock.wallSeconds() * 1_000,
			runRound: (request, runtime) => this.#round(request, runtime),
		});
	}

	stop(): void {
		this.#stop.abort(new Error("it is told to stop"));
	}

	timeOut(): void {
		this.#timeout.abort(new Error("its time is over"));
	}

	override pause(): void {
		this.#isPaused = true;
		this.#judge.pauses();
		this.#evictions?.pause();
	}

	override resume(): void {
		this.#isPaused = false;
		this.#judge.resumes();
		this.#evictions?.resume();
	}

	protected async run(): Promise<void> {
		const evictions = await this.#findFleet();
		if (!evictions) return;
		this.#evictions = evictions;
		if (this.#isPaused) evictions.pause();
		await Promise.all(this.data.pods.map((path) => this.#evict(path, evictions)));
		if (this.data.nodes) await this.#drainNodes(evictions);
		this.#stop.abort(new Error("the run is over"));
		await evictions.settled();
		await this.#leftBehind.settled();
	}

	/** Returns undefined if the fleet cannot be found: then the process changes nothing. */
	#findFleet(): Evictions | Promise<Evictions | undefined> {
		const { data, world } = this;
		if (data.meets && world.wire) return this.#meetFleet(world.wire);
		const memberIds = data.members ?? world.memberIds(this.#contextIds[0] ?? "");
		const memberOf = (id: string): AgentCluster => this.#judged(world.member(this, id), memberIds[0] === id);
		return this.#begin(simulatedFleet(this.#contextIds, memberIds, memberOf), (member) => member);
	}

	async #meetFleet(wire: NonNullable<DrainWorld["wire"]>): Promise<Evictions | undefined> {
		const { world, data } = this;
		const said = new Map<string, unknown>();
		try {
			const fleet = await meetFleet({
				contexts: this.#contextIds.flatMap((id) => this.#contexts.get(id) ?? []),
				clientOf: ({ name }) => wire.client(this, name, { said, onDescribe: () => world.oracle.lists(this) }),
				memberIds: (id) => world.memberIds(id),
				bug: (error) => world.bug(data.name, error),
			});
			const judged = new WeakMap<AgentCluster, AgentCluster>();
			return this.#begin(fleet, (member) => {
				let found = judged.get(member);
				if (!found) {
					const met = wire.met(member, said, world.options);
					judged.set(member, (found = this.#judged(met, fleet.members[0] === member)));
				}
				return found;
			});
		} catch (error) {
			if (!(error instanceof FleetUncoveredError) && !isDomainError(error)) throw error;
			this.last = error.message;
			return undefined;
		}
	}

	#drainNodes(evictions: Evictions): Promise<void> {
		const { data, clock } = this;
		return drainNodes({
			data,
			clock,
			contexts: this.#contexts,
			isCordoned: (id, node) => this.world.cluster(id).cordoned.has(node),
			evictions: { evict: (job) => this.#evictJob(job, evictions) },
			stop: this.#stop.signal,
			emit: (event) => this.#heard(event),
		});
	}

	#evictJob(job: EvictionJob, evictions: Evictions): Promise<PodOutcome> {
		this.#judge.evicts(job);
		return evictions.evict(job);
	}

	async #evict(path: string, evictions: Evictions): Promise<void> {
		const [clusterId = "", name = ""] = path.split("/");
		const context = this.#contexts.get(clusterId);
		if (!context) throw new Error(`no cluster ${clusterId} in scenario ${this.world.scenario.name}`);
		const timeout = { signal: this.#timeout.signal, text: "1m" };
		for (let made = 0; made < (this.data.follows ? mostFollowed : 1); made += 1) {
			const found = this.world.cluster(clusterId).server.getPod({ namespace, name });
			if (found.kind === "gone") return;
			const { deletes = false } = this.data;
			const readAt = this.clock.now();
			const job = createJob(toV1Pod(found.pod, this.world.cluster(context.name)), {
				context,
				timeout,
				deletes,
				gracePeriodSeconds: -1,
				readAt,
			});
			const outcome: PodOutcome = await this.#evictJob(job, evictions);
			if (outcome.kind === "failed") this.last = outcome.message;
			if (outcome.kind === "stopped") return;
		}
	}

	async #round(request: RoundRequest, runtime: RoundRuntime): Promise<readonly RoundVerdict[]> {
		this.#judge.asksForRound(request);
		this.#turn(looksPerAttempt);
		const { oracle } = this.world;
		const record = oracle.roundStarts(this);
		const clusters = request.clusters.map((member): Cluster => watched(member, record, oracle));
		const newId = (): string => {
			const id = runtime.newId();
			record.ids.push(id);
			return id;
		};
		let verdicts: readonly RoundVerdict[] = [];
		try {
			verdicts = await runRound({ ...request, clusters }, { ...runtime, newId });
			return verdicts;
		} catch (error) {
			if (error instanceof LeaseLostError) this.last = error.message;
			throw error;
		} finally {
			for (const id of record.ids) this.#rounds.set(id, record);
			oracle.roundEnds(record, verdicts);
		}
	}

	/** Uses up attempts, and stops the process when none is left. */
	#turn(looks: number): void {
		this.#turns += looks;
		if (this.#turns > this.data.attempts * looksPerAttempt + firstQuestions)
			this.#stop.abort(new Error("its attempts are used up"));
	}

	#context(id: string): KubeContext {
		const cluster = this.world.cluster(id);
		const { oracle } = this.world;
		const client = pluginClient({
			cluster,
			carry: (call) => this.world.carry(this, cluster, call),
			beforeSending: () => this.#logIn(),
			serverErrors: this.data.serverErrors ?? false,
			deletedUnder: (uid) => this.#deletedUnder.get(uid),
			onSent: (uid) => this.#judge.sends(uid),
			onSentFreely: () => oracle.sendsFreely(this),
			now: () => this.clock.now(),
			onChanged: (what) => this.#judge.changed(what),
			onEvicted: (pod, under, sentAt) => {
				this.#judge.evicted(cluster, pod);
				const round = typeof under === "string" ? this.#rounds.get(under) : undefined;
				if (round) oracle.evicted(cluster, pod, round, sentAt);
				else oracle.evictedFreely(cluster, pod, typeof under === "string" ? oracle.sendsFreely(this) : under);
			},
		});
		const agents = { namespace: "xpdb-system", account: undefined };
		return { name: id, namespace, client, agents, suggest: suggestDefault };
	}

	async #logIn(): Promise<void> {
		const { firstSendAfterMs: waitMs = 0 } = this.data;
		if (this.#isLoggedIn) return;
		this.#isLoggedIn = true;
		await sleepOn(this.clock, waitMs, this.#stop.signal);
	}

	#judged(member: AgentCluster, countsLooks: boolean): AgentCluster {
		return forwardingCluster(member, {
			acquire: (request, options) => {
				this.#judge.takesLease();
				return member.acquire(request, options);
			},
			look: (request) => {
				if (countsLooks) this.#turn(1);
				return member.look(request);
			},
		});
	}

	#heard(event: RunEvent): void {
		if (event.type === "pod.accepted") this.evicted += 1;
		if (event.type === "node.drained" && event.dryRun === "none")
			this.#judge.saysDrained(this.world.cluster(event.context), event.node);
		if (event.type === "node.failed") this.last = event.why;
		if (event.type === "pod.waiting" || event.type === "cluster.unreachable") this.last = event.message;
	}
}

/** Returns the member with a commit() that also tells the judge. */
function watched(member: Cluster, record: RoundRecord, oracle: Oracle): Cluster {
	return {
		...member,
		commit: (acquisition, grants) => {
			oracle.commits(record, member.id, acquisition.nonce);
			return member.commit(acquisition, grants);
		},
	};
}
