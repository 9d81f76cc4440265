// One plugin process: the shipped engine of evictions with its queues, groups, coverage lists and slots, its tickets and its
// native evictions, over members and API servers behind the simulated network.
//
// It stops, as by Ctrl-C, when its attempts are used up: rounds, looks that found no room, questions who the fleet is.
import type { Cluster } from "../../disruption/cluster.ts";
import { type RoundOutcome, type RoundRequest, type RoundRuntime, runRound } from "../../disruption/round.ts";
import type { RunEvent } from "../../plugin/events/events.ts";
import { createJob, type EvictionJob } from "../../plugin/evictions/eviction-job.ts";
import { Evictions } from "../../plugin/evictions/evictions.ts";
import { createEvictor } from "../../plugin/evictions/evictor.ts";
import { LeftBehind } from "../../plugin/evictions/left-behind.ts";
import type { PodOutcome } from "../../plugin/evictions/pod-outcome.ts";
import { Reachability } from "../../plugin/fleet/reachability.ts";
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
import { simulatedFleet } from "./simulated-fleet.ts";
import { sleepOn } from "./simulated-process.ts";
import { namespace } from "./workload.ts";

/** Pods of one name that a process which follows it asks for, one after the other. */
const mostFollowed = 2;
/** A look is made every 300 ms: so many are worth an attempt of a round. */
const looksPerAttempt = 3;
/** What covers its pods is asked before the first round. */
const firstQuestions = 2;

export class PluginProcess extends Drain {
	readonly #evictions: Evictions;
	readonly #leftBehind: LeftBehind;
	readonly #contexts: ReadonlyMap<string, KubeContext>;
	readonly #stop = new AbortController();
	readonly #timeout = new AbortController();
	/** By the reservations that they made. */
	readonly #rounds = new Map<string, RoundRecord>();
	/** A delete names no reservation: by pod, the one that it uses. */
	readonly #deletedUnder = new Map<string, string>();
	readonly #judge: CommandJudge;
	#turns = 0;
	#isLoggedIn = false;

	constructor(data: DrainData, world: DrainWorld) {
		super(data, world);
		const runtime: RoundRuntime = {
			...this.runtime,
			onLeftBehind: (problem, giveBack) => this.#leftBehind.add(problem, giveBack),
		};
		this.#judge = new CommandJudge(data, this.#stop.signal, (error) => world.bug(data.name, error));
		this.#leftBehind = new LeftBehind(runtime, () => undefined);
		this.#contexts = new Map(world.clusters.map(({ id }) => [id, this.#context(id)]));
		const contextIds = [
			...new Set([...data.pods, ...(data.nodes ?? [])].map((path) => path.slice(0, path.indexOf("/")))),
		];
		const memberIds = data.members ?? world.memberIds(contextIds[0] ?? "");
		const fleet = simulatedFleet(contextIds, memberIds, (id) => this.#member(id, memberIds[0] === id));
		const emit = (event: RunEvent): void => this.#heard(event);
		const options = { gracePeriodSeconds: -1, deletes: data.deletes ?? false, dryRun: data.dryRun ?? false };
		const evictorOf = createEvictor(options, emit);
		this.#evictions = new Evictions({
			fleet: {
				...fleet,
				get members() {
					return fleet.members;
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
						this.#judge.uses(id);
						return evictor.evict(pod, preconditions, id, guard);
					},
				};
			},
			runtime,
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
		this.#judge.pauses();
		this.#evictions.pause();
	}

	override resume(): void {
		this.#judge.resumes();
		this.#evictions.resume();
	}

	protected async run(): Promise<void> {
		await Promise.all(this.data.pods.map((path) => this.#evict(path)));
		if (this.data.nodes) await this.#drainNodes();
		this.#stop.abort(new Error("the run is over"));
		await this.#evictions.settled();
		await this.#leftBehind.settled();
	}

	#drainNodes(): Promise<void> {
		const { data, clock } = this;
		return drainNodes({
			data,
			clock,
			contexts: this.#contexts,
			isCordoned: (id, node) => this.world.cluster(id).cordoned.has(node),
			evictions: { evict: (job) => this.#evictJob(job) },
			stop: this.#stop.signal,
			emit: (event) => this.#heard(event),
		});
	}

	#evictJob(job: EvictionJob): Promise<PodOutcome> {
		this.#judge.evicts(job);
		return this.#evictions.evict(job);
	}

	async #evict(path: string): Promise<void> {
		const [clusterId = "", name = ""] = path.split("/");
		const context = this.#contexts.get(clusterId);
		if (!context) throw new Error(`no cluster ${clusterId} in scenario ${this.world.scenario.name}`);
		const timeout = { signal: this.#timeout.signal, text: "1m" };
		for (let made = 0; made < (this.data.follows ? mostFollowed : 1); made += 1) {
			const found = this.world.cluster(clusterId).server.getPod({ namespace, name });
			if (found.kind === "gone") return;
			const { deletes = false } = this.data;
			const readAt = this.clock.now();
			const job = createJob(toV1Pod(found.pod), { context, timeout, deletes, gracePeriodSeconds: -1, readAt });
			const outcome: PodOutcome = await this.#evictJob(job);
			if (outcome.kind === "failed") this.last = outcome.message;
			if (outcome.kind === "stopped") return;
		}
	}

	async #round(request: RoundRequest, runtime: RoundRuntime): Promise<RoundOutcome> {
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
		let outcome: RoundOutcome | undefined;
		try {
			outcome = await runRound({ ...request, clusters }, { ...runtime, newId });
			if (outcome.kind === "lost") this.last = outcome.reason;
			return outcome;
		} finally {
			for (const id of record.ids) this.#rounds.set(id, record);
			oracle.roundEnds(record, outcome);
			this.#judge.roundEnds(outcome);
		}
	}

	/** Stops the process where it has had its turns. */
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

	#member(id: string, countsLooks: boolean): AgentCluster {
		const member = this.world.member(this, id);
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

/** The cluster, and a note of what is committed there. */
function watched(member: Cluster, record: RoundRecord, oracle: Oracle): Cluster {
	return {
		...member,
		commit: (acquisition, grants) => {
			oracle.commits(record, member.id, acquisition.nonce);
			return member.commit(acquisition, grants);
		},
	};
}
