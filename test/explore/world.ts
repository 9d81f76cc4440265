// The world of one run: the clusters of a scenario, its processes, and the network between them. world-steps.ts finds what can happen next.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { Greeting, GreetingReply } from "../../proto/greet.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { Drain } from "./drain.ts";
import { DrainProcess } from "./drain-process.ts";
import { answerText, type HistoryEntry, requestText } from "./history.ts";
import { simulatedMember } from "./member.ts";
import { Network, routesTo } from "./network.ts";
import { Oracle, type Violation } from "./oracle.ts";
import { OrderJudge } from "./order-judge.ts";
import { PluginProcess } from "./plugin-process.ts";
import { ReturnedViews } from "./returned-views.ts";
import { makeLeases } from "./made-leases.ts";
import type { Limits, Scenario } from "./scenario.ts";
import type { Step } from "./scheduler.ts";
import type { ApiCall } from "./simulated-api.ts";
import { Wire } from "./wire.ts";
import type { RestoreOptions, WorldOptions } from "./world-options.ts";
import type { Snapshot } from "./simulated-api-server.ts";
import type { StreamFaults } from "./streamed-views.ts";
import { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { namespace } from "./workload.ts";

/**
 * How many versions lie between the backup and the start of a run. Fewer writes happen until every agent has noticed a restore, so that
 * until then no version is given twice. A restore with `bumped` raises the versions by as many.
 */
const writesSinceBackup = 1_000;

/** Faults of messages and processes. After one of these, except a refusal, a round can leave something behind. */
const troubles: ReadonlySet<string> = new Set<keyof Limits>([
	"lost",
	"gaveUp",
	"doubled",
	"repeated",
	"answerLost",
	"refused",
	"crashes",
	"restarts",
	"silences",
]);

export class World {
	readonly scenario: Scenario<World>;
	readonly options: WorldOptions;
	readonly clusters: readonly SimulatedCluster[];
	readonly network: Network;
	readonly oracle: Oracle;
	readonly wire: Wire | undefined;
	readonly #order: OrderJudge;
	readonly #views: ReturnedViews;
	readonly #onPassedLine = (at: SimulatedProcess, what: string): void => this.#order.passedLine(at, what);
	readonly drains: Drain[] = [];
	readonly history: HistoryEntry[] = [];
	step = 0;
	/** No more faults and events: everything left has to come to its end. */
	settling = false;
	violation: Violation | undefined;
	#faults = 0;
	readonly #backups = new Map<SimulatedCluster, Snapshot>();
	readonly #used = new Map<string, number>();
	readonly #left: Record<keyof Limits, number>;

	constructor(scenario: Scenario<World>, options: WorldOptions) {
		this.scenario = scenario;
		this.options = options;
		this.#left = { ...options.limits };
		const ids = scenario.clusters.map(({ id }) => id);
		this.network = new Network({
			splitAnswers: options.splitAnswers,
			mayFail: (fault, { what }) =>
				this.may(fault) && what.startsWith(scenario.onlyFails ?? "") && (scenario.mayFail?.(fault, what) ?? true),
			failing: (fault, from) => {
				this.uses(fault);
				from.learns(() => fault);
			},
			onAnswer: (request, at, outcome, late) => {
				if (options.record)
					this.notes(`${late ? "(nobody waits for it) " : ""}${at}: ${answerText(request.what, outcome)}`);
			},
		});
		this.clusters = scenario.clusters.map(
			(data) =>
				new SimulatedCluster(data, ids, {
					keepsHistory: options.keepsHistory,
					stops: options.stops,
					streams: options.isStreamed ? this.#streamFaults() : undefined,
					carry: (from, call) => this.carry(from, this.cluster(data.id), call),
					onBug: (error) => this.bug(data.id, error),
					knowsMembers: scenario.knowsMembers ?? false,
					greet: (from, id, greeting) => this.#greet(from, id, greeting),
					lineHost: (from) => this.#lineHost(from, data.id),
					members: (from) => this.#membersOf(from, data.id),
					budgetElsewhere: ({ namespace, name }) =>
						this.clusters
							.filter(({ id }) => id !== data.id)
							.flatMap(({ server }) => server.budgets.get(`${namespace}/${name}`) ?? []),
				}),
		);
		const onViolation = (violation: Violation): void => {
			this.violation ??= violation;
			this.notes(`VIOLATION: ${violation.message}`);
		};
		this.#order = new OrderJudge({ processes: () => this.agents(), onViolation });
		this.oracle = new Oracle({
			scenario: scenario.name,
			clusters: this.clusters,
			step: () => this.step,
			faults: () => this.#faults,
			onViolation,
		});
		this.#views = new ReturnedViews({ clusters: this.clusters, oracle: this.oracle, onViolation });
		this.wire = options.isWired ? this.#openWire() : undefined;
		for (const { server } of this.clusters)
			server.pickListVersion = (count) => (count > 1 && !this.settling ? this.pick(count) : 0);
		if (scenario.leasesExist !== false) makeLeases(this.clusters);
		for (const cluster of this.clusters) {
			if (scenario.isRestored) {
				this.#backups.set(cluster, cluster.server.snapshot());
				cluster.server.revision += writesSinceBackup;
			}
			cluster.startAgents();
		}
		this.oracle.configChanged();
		scenario.prepare?.(this);
		for (const data of scenario.drains) this.startDrain(data);
	}

	/** Restores etcd of every cluster, or of only one, to its state before the run began. Unless `isHot`, the API servers are restarted. */
	restore({ only, bumped = false, isHot = false }: RestoreOptions = {}): void {
		const backups = [...this.#backups].filter(([{ id }]) => (only ?? id) === id);
		if (backups.length === 0) throw new Error(`scenario ${this.scenario.name} has no backup`);
		for (const [cluster, backup] of backups) {
			const { agents, server, workloads } = cluster;
			server.restore(backup, bumped ? server.revision + writesSinceBackup : backup.revision);
			this.oracle.limitViews(cluster, server.revision);
			for (const workload of workloads) workload.restored();
			if (isHot) continue;
			for (const agent of agents) agent.loseConnection();
			this.network.broke(apiServerOf(cluster));
		}
	}

	/** Returns a number below `count`, each equally likely. */
	pick(count: number): number {
		return this.options.choices.pick(Array.from({ length: count }, () => 1));
	}

	dies(drain: Drain): void {
		drain.alive = false;
		this.network.died(drain);
	}

	startDrain(data: Scenario["drains"][number]): Drain {
		const drain = this.options.thinDrains ? new DrainProcess(data, this) : new PluginProcess(data, this);
		this.drains.push(drain);
		this.oracle.follows(drain);
		drain.start();
		return drain;
	}

	cluster(id: string): SimulatedCluster {
		const found = this.clusters.find((cluster) => cluster.id === id);
		if (!found) throw new Error(`no cluster ${id} in scenario ${this.scenario.name}`);
		return found;
	}

	pod(clusterId: string, name: string): PodRecord {
		const found = this.cluster(clusterId).server.getPod({ namespace, name });
		if (found.kind === "present") return found.pod;
		throw new Error(`no pod ${name} in cluster ${clusterId}`);
	}

	agents(): readonly AgentProcess[] {
		const found: AgentProcess[] = [];
		for (const { agents } of this.clusters) found.push(...agents);
		return found;
	}

	processes(): readonly SimulatedProcess[] {
		const found: SimulatedProcess[] = [];
		for (const { agents } of this.clusters) for (const agent of agents) if (agent.alive) found.push(agent);
		for (const drain of this.drains) if (drain.alive) found.push(drain);
		return found;
	}

	memberIds(clusterId: string): readonly string[] {
		return this.cluster(clusterId).server.fleet.members.map(({ id }) => id);
	}

	member(from: Drain, id: string): AgentCluster {
		const agent = from.data.agent ?? (this.options.oneAgent ? 0 : undefined);
		return this.#memberFor(from, id, { agent, through: from.data.through });
	}

	carry<T>(from: SimulatedProcess, cluster: SimulatedCluster, call: ApiCall<T>): Promise<T> {
		const routes = [{ name: apiServerOf(cluster), run: () => this.#execute(from, cluster, call) }];
		return this.network.send<T>({
			from,
			cluster: cluster.id,
			what: requestText(call, cluster.id, this.scenario),
			detail: () => JSON.stringify(call.detail ?? ""),
			routes: () => routes,
			atOnce: this.#neverChanges(call),
			mayDouble: call.verb !== "get" && call.verb !== "list",
			...(call.verb === "evict" && { refusal: () => ({ kind: "refused", refusal: "429" }) as T }),
		});
	}

	/** Whether a fault hit a request or a process. Refusals do not count, because a round must clean up after them. */
	get isTroubled(): boolean {
		return [...troubles].some((what) => what !== "refused" && this.times(what) > 0);
	}

	may(what: keyof Limits): boolean {
		return !this.settling && this.#left[what] > 0;
	}

	/** Counts one use. Faults of messages and processes excuse what a round leaves behind. */
	uses(what: string): void {
		this.#used.set(what, this.times(what) + 1);
		if (what in this.#left) this.#left[what as keyof Limits] -= 1;
		if (troubles.has(what)) this.#faults += 1;
	}

	times(what: string): number {
		return this.#used.get(what) ?? 0;
	}

	/** Takes a step. What it causes continues when the caller lets the microtasks run. */
	take(step: Step): void {
		this.step += 1;
		if (this.options.record) this.history.push({ step: this.step, actor: step.actor, what: step.what, effects: [] });
		this.#views.look();
		step.run();
	}

	/** Shows what views see without delay. Returns false if there was nothing new. */
	showAtOnce(): boolean {
		const { freshViews = false } = this.scenario;
		if (!freshViews && !this.options.keepsHistory) return false;
		let any = false;
		for (const agent of this.agents()) {
			if (agent.isWatching && agent.alive) any = agent.seesEverything({ pods: freshViews }) || any;
		}
		return any;
	}

	notes(effect: string): void {
		if (!this.options.record) return;
		const last = this.history.at(-1);
		if (last) last.effects.push(effect);
		else this.history.push({ step: 0, actor: "", what: "at the start", effects: [effect] });
	}

	/** Ends the run: code under test threw an error that it must never throw, or did what it must never do. */
	bug(where: string, error: unknown): void {
		const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
		this.violation ??= { rule: "bug", message: `${where}: ${text}` };
		this.notes(`BUG in ${where}: ${text}`);
	}

	/** Returns a text that is equal for worlds with the same possible futures. */
	fingerprint(): string {
		return [
			...this.clusters.map((cluster) => cluster.fingerprint()),
			...this.drains.map((drain) => drain.fingerprint()),
			this.network.fingerprint(),
			this.oracle.fingerprint(),
			JSON.stringify([...this.#used].map((use) => use.join(" ")).toSorted()),
		].join("\n");
	}

	/** Whether the call can be answered at once: nothing in this scenario changes what it reads, or Lease calls are executed at once. */
	#neverChanges({ verb, resource }: Pick<ApiCall<unknown>, "verb" | "resource">): boolean {
		if (resource === "leases" && verb !== "list" && this.options.leaseCallsAtOnce) return true;
		if (this.scenario.configChanges) return false;
		if (resource === "fleet" || resource === "scales" || resource === "budgets" || resource === "workloads")
			return true;
		// A count lists Leases only for those of other budgets. So with a single budget, it uses nothing of the list.
		return (
			resource === "leases" && verb === "list" && this.scenario.clusters.every(({ budgets }) => budgets.length <= 1)
		);
	}

	/** Returns the faults of this run's streams. A stream that fails counts as a silence of its view. */
	#streamFaults(): StreamFaults {
		return {
			mayFail: () => this.may("silences"),
			failing: () => this.uses("silences"),
			streamsLists: () => this.step === 0 || this.options.streamsLists,
		};
	}

	#openWire(): Wire {
		return new Wire({
			network: this.network,
			budgets: this.oracle.budgets,
			cluster: (id) => this.cluster(id),
			passesOn: (agent) => this.#lineHost(agent, agent.local.id) !== undefined,
			onPassedLine: this.#onPassedLine,
			onGreeted: (agent, id) => this.#greeted(this.cluster(agent.local.id), id),
			onBug: (where, error) => this.bug(where, error),
		});
	}

	#memberFor(
		from: SimulatedProcess,
		id: string,
		{ agent, through }: { readonly agent?: number | undefined; readonly through?: string | undefined } = {},
	): AgentCluster {
		const { writtenHolds } = this.options;
		if (this.wire) return this.wire.member(from, { id, agent, through, writtenHolds });
		const passesOn = (at: SimulatedProcess): boolean => this.#lineHost(at, id) !== undefined;
		const { network, oracle } = this;
		return simulatedMember({
			from,
			cluster: this.cluster(id),
			network,
			agent,
			writtenHolds,
			budgets: oracle.budgets,
			passesOn,
			onPassedLine: this.#onPassedLine,
		});
	}

	#membersOf(from: AgentProcess, clusterId: string): readonly AgentCluster[] {
		return this.memberIds(clusterId).map((id) => (id === clusterId ? from.local : this.#memberFor(from, id)));
	}

	#greeted(cluster: SimulatedCluster, by: string): void {
		cluster.named.add(by);
		this.oracle.configChanged();
	}

	#greet(from: AgentProcess, id: string, greeting: Greeting): Promise<GreetingReply> {
		if (this.wire) return this.wire.greet(from, id, greeting);
		const cluster = this.cluster(id);
		const tell = async (agent: AgentProcess): Promise<GreetingReply> => {
			if (!agent.greetings) throw new Error("an agent that knows no members");
			const reply = await agent.greetings.receive(greeting);
			this.#greeted(cluster, greeting.id);
			return reply;
		};
		return this.network.send<GreetingReply>({
			from,
			cluster: id,
			what: `greet ${id}`,
			detail: () => JSON.stringify(greeting),
			routes: routesTo(() => cluster.agents.filter(({ alive }) => alive), tell),
			mayDouble: true,
		});
	}

	#execute<T>(from: SimulatedProcess, cluster: SimulatedCluster, call: ApiCall<T>): T {
		const { server } = cluster;
		const isWrite = call.resource === "leases" && (call.verb === "update" || call.verb === "create");
		if (!isWrite) return call.execute();
		const before = server.leases.get(call.name);
		const answer = call.execute();
		const after = server.leases.get(call.name);
		if (!after || after === before) return answer;
		this.#order.wrote(from, before, after);
		this.oracle.wrote(cluster, after);
		return answer;
	}

	#lineHost(from: SimulatedProcess, id: string): AgentCluster | undefined {
		const cluster = this.cluster(id);
		const [host] = cluster.agents;
		if (!this.scenario.lineHost || !host?.alive || host === from) return undefined;
		const { network, oracle } = this;
		const { budgets } = oracle;
		const { writtenHolds } = this.options;
		if (this.wire) return this.wire.member(from, { id, agent: 0, passedOn: "line", writtenHolds });
		return simulatedMember({
			from,
			cluster,
			network,
			budgets,
			agent: 0,
			here: true,
			writtenHolds,
			onPassedLine: this.#onPassedLine,
		});
	}
}

function apiServerOf({ id }: Pick<SimulatedCluster, "id">): string {
	return `API server of ${id}`;
}
