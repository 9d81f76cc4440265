// A plugin process without the eviction engine of plugin-process.ts. Exhaustive searches use it, because each timer and look of the engine
// would multiply the states. Some random runs use it, because the engine would refuse before a round could go wrong.
//
// It requests grants with the shipped runRound, and evicts granted pods with the shipped evictUnderTicket. The other code imitates the
// plugin. The process ends when its pods are evicted or gone, or when its attempts are used up.
import type { PodReference } from "../../disruption/budget/cluster.ts";
import { coveringBudgets } from "../../disruption/budget/covering.ts";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { type CurrentBudgets, evictUnderTicket } from "../../disruption/round/eviction.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { runRound } from "../../disruption/round/round.ts";
import type { RoundBudget } from "../../disruption/budget/budget.ts";
import type { RoundCandidate } from "../../disruption/budget/verdict.ts";
import type { EvictionAnswer, RoundVerdict } from "../../disruption/round/ticket.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { forwardingCluster } from "../../proto/forwarding-cluster.ts";
import { Drain, type DrainWorld } from "./drain.ts";
import type { RoundRecord } from "./oracle.ts";
import type { DrainData } from "./scenario.ts";
import { type ApiCall, simulatedEvictor } from "./simulated-api.ts";
import { namespace } from "./workload.ts";

const betweenAttemptsMs = 1_000;

export class DrainProcess extends Drain {
	/** Never aborted: a process that ends early dies instead. */
	readonly #running = new AbortController();
	/** Whether the last round had to wait in line. */
	#contended = false;
	/** By path; without the pods that this process is done with. */
	readonly #pods: Map<string, RoundCandidate>;

	constructor(data: DrainData, world: DrainWorld) {
		super(data, world);
		this.#pods = new Map(data.pods.map((path) => [path, this.#candidate(path)]));
	}

	/** Does nothing, like timeOut(): only the engine of plugin-process.ts can be stopped. */
	stop(): void {}

	timeOut(): void {}

	protected async run(): Promise<void> {
		for (let attempt = 1; attempt <= this.data.attempts && this.#pods.size > 0; attempt += 1) {
			try {
				await this.#attempt();
			} catch (error) {
				if (!(error instanceof AgentUnavailableError)) throw error;
				this.last = error.message;
			}
			if (this.#pods.size > 0 && attempt < this.data.attempts) {
				await this.runtime.sleep(betweenAttemptsMs, this.#running.signal);
			}
		}
	}

	async #attempt(): Promise<void> {
		if (this.data.follows) for (const path of this.#pods.keys()) this.#follow(path);
		const candidates = [...this.#pods.values()];
		const { budgets, uncovered } = this.#coverage(candidates);
		const round = this.world.oracle.roundStarts(this);
		await Promise.all(uncovered.map((candidate) => this.#evictFreely(candidate, round)));
		if (budgets.length === 0) return;
		const asked = candidates.filter((candidate) => !uncovered.includes(candidate));
		const verdicts = await this.#run(asked, budgets, round);
		await Promise.all(verdicts.map((verdict) => this.#use(verdict, round)));
	}

	/** Returns no verdicts if the round lost a Lease. */
	async #run(
		candidates: readonly RoundCandidate[],
		budgets: readonly RoundBudget[],
		round: RoundRecord,
	): Promise<readonly RoundVerdict[]> {
		const { oracle } = this.world;
		const clusters = this.#members().map((member) =>
			forwardingCluster(member, {
				acquire: (request, options) => {
					if (options.wait && this.data.neverWaits) this.world.dies(this);
					return member.acquire(request, options);
				},
				commit: (acquisition, grants) => {
					oracle.commits(round, member.id, acquisition.nonce);
					return member.commit(acquisition, grants);
				},
			}),
		);
		try {
			const { signal } = this.#running;
			// As in grant-queue.ts: after a round that waited in line, the next one waits from the start.
			const contended = this.#contended;
			this.#contended = false;
			const queued = (): void => {
				this.#contended = true;
			};
			const request = { clusters, budgets, holder: this.name, candidates, signal, contended, observer: { queued } };
			const newId = (): string => {
				const id = this.newId();
				round.ids.push(id);
				return id;
			};
			const verdicts = await runRound(request, { ...this.runtime, newId });
			oracle.roundEnds(round, verdicts);
			return verdicts;
		} catch (error) {
			oracle.roundEnds(round, []);
			if (!(error instanceof LeaseLostError)) throw error;
			this.last = error.message;
			return [];
		}
	}

	async #use(verdict: RoundVerdict, round: RoundRecord): Promise<void> {
		const { candidate } = verdict;
		this.last = verdict.kind === "waiting" || verdict.kind === "refused" ? verdict.message : verdict.kind;
		if (verdict.kind === "free") {
			if (verdict.why === "Gone") this.#done(candidate);
			else await this.#evictFreely(candidate, round);
			return;
		}
		if (verdict.kind !== "granted") return;
		const cluster = this.#members().find(({ id }) => id === candidate.clusterId);
		if (!cluster) throw new Error(`granted a pod of cluster ${candidate.clusterId}, which is no member`);
		const evictor = this.#evictor(candidate, round);
		const outcome = await evictUnderTicket(verdict.ticket, cluster, evictor, this.#currentBudgets(), this.runtime);
		this.last = outcome.kind;
		if (outcome.kind === "accepted") this.evicted += 1;
		if (outcome.kind === "accepted" || outcome.kind === "gone") this.#done(candidate);
	}

	/** The eviction names only the pod's uid. */
	async #evictFreely(candidate: RoundCandidate, round: RoundRecord): Promise<void> {
		const { pod } = candidate;
		const answer = await this.#evictor(candidate, round).evict(pod, uidOnly(pod.uid), "", () => true);
		if (answer.kind === "accepted") this.evicted += 1;
		if (answer.kind !== "refused" && answer.kind !== "unknown") this.#done(candidate);
	}

	#evictor({ clusterId, pod }: RoundCandidate, round: RoundRecord) {
		const cluster = this.world.cluster(clusterId);
		return simulatedEvictor(cluster.server, <T>(call: ApiCall<T>) => {
			const sentAt = this.clock.now();
			return this.world.carry<T>(this, cluster, {
				...call,
				execute: () => {
					const before = cluster.server.getPod(pod);
					const answer = call.execute();
					const found = before.kind === "present" ? before.pod : undefined;
					const given = answer as EvictionAnswer<never>;
					if (call.verb === "evict" && found && given.kind === "accepted")
						this.world.oracle.evicted(cluster, found, round, sentAt);
					return answer;
				},
			});
		});
	}

	/** Returns the budgets of all members that cover these pods, and the pods that no budget covers. */
	#coverage(candidates: readonly RoundCandidate[]): {
		readonly budgets: readonly RoundBudget[];
		readonly uncovered: readonly RoundCandidate[];
	} {
		const budgets = new Map<string, RoundBudget>();
		const members = this.#members().map(({ id }) => this.world.cluster(id).server);
		const uncovered = candidates.filter(({ clusterId, pod }) => {
			const found = this.world.cluster(clusterId).server.getPod(pod);
			if (found.kind === "gone") return false;
			const covering = coveringBudgets(
				members.flatMap((server) => server.listBudgets(namespace)),
				found.pod,
			);
			for (const { name, selector } of covering) if (selector) budgets.set(name.name, { name, selector });
			return covering.length === 0;
		});
		return { budgets: [...budgets.values()], uncovered };
	}

	/** Lists the current budgets without the network, as #coverage() does. */
	#currentBudgets(): CurrentBudgets {
		return {
			list: async () => ({
				askedAt: this.clock.now(),
				namespaces: [namespace],
				members: this.#memberIds().map((id) => ({
					clusterId: id,
					clusterName: id,
					fleetHash: fleetHash(this.world.memberIds(id)),
					budgets: this.world.cluster(id).server.listBudgets(namespace),
				})),
			}),
			memberIds: () => this.#memberIds(),
		};
	}

	#memberIds(): readonly string[] {
		return this.data.members ?? this.world.clusters.map(({ id }) => id);
	}

	#members(): readonly AgentCluster[] {
		return this.#memberIds().map((id) => this.world.member(this, id));
	}

	#candidate(path: string): RoundCandidate {
		const candidate = this.#find(path);
		if (!candidate) throw new Error(`no pod ${path} in scenario ${this.world.scenario.name}`);
		return candidate;
	}

	#follow(path: string): void {
		const candidate = this.#find(path);
		if (candidate) this.#pods.set(path, candidate);
	}

	#find(path: string): RoundCandidate | undefined {
		const [clusterId = "", name = ""] = path.split("/");
		const found = this.world.cluster(clusterId).server.getPod({ namespace, name });
		if (found.kind === "gone") return undefined;
		const pod: PodReference = { namespace, name, uid: found.pod.uid };
		return { clusterId, pod };
	}

	#done({ clusterId, pod }: RoundCandidate): void {
		// A process that follows a name continues with the next pod of that name, until it has evicted two pods.
		if (!this.data.follows || this.evicted > 1) this.#pods.delete(`${clusterId}/${pod.name}`);
	}
}

/**
 * Returns preconditions without a version. The evictor's type requires both fields, because every eviction under a reservation names both.
 */
function uidOnly(uid: string): { readonly uid: string; readonly resourceVersion: string } {
	return { uid } as { readonly uid: string; readonly resourceVersion: string };
}
