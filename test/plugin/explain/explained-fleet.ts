// Plays two clusters with pods to explain, in memory. API servers and agents serve only reads.
import type { V1Pod, V1PodDisruptionBudget } from "@kubernetes/client-node";
import type { Count, LookRequest } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { explainBudget } from "../../../plugin/plan/explain/explain-budget.ts";
import { explainNode } from "../../../plugin/plan/explain/explain-node.ts";
import { explainPod } from "../../../plugin/plan/explain/explain-pod.ts";
import type { Explanation } from "../../../plugin/plan/explain/explanation.ts";
import type { FleetView } from "../../../plugin/plan/explain/fleet-view.ts";
import { readSubject } from "../../../plugin/plan/explain/read-subject.ts";
import type { AgentCluster } from "../../../proto/agent-cluster.ts";
import type { ListedLease } from "../../../proto/listed-lease.ts";
import { forbidden, newClient, newContext, notFound } from "../../support/build-context.ts";
import { newV1Pod, type PodFields } from "../../support/build-v1-pod.ts";
import { FakeFleet, type FakeMember, type FakePod, namespace } from "../../support/fake-fleet.ts";

export const wallClock = Date.parse("2026-01-01T00:10:00Z");

/** Returns what an agent answers instead of its true count. A late answer moves the clock. */
export type Distortion = (count: Count, clock: { ms: number }) => Count | Promise<Count>;

export class ExplainedFleet {
	readonly fleet = new FakeFleet(["eu", "us"]);
	/** Additional fields of the fleet's pods, by pod name. */
	readonly fields = new Map<string, PodFields & { readonly unmanaged?: true }>();
	nodeAnnotations: Readonly<Record<string, string>> = {};
	/** PodDisruptionBudgets of cluster eu, or why they cannot be listed. */
	native: readonly V1PodDisruptionBudget[] | Error = [];
	problems: readonly string[] = [];
	/** The suffixes of the nodes' names in each cluster. */
	nodes: readonly string[] = ["n0", "n1"];
	/** Paths that the user may not read. A member's name in front limits them to that cluster. */
	readonly forbidden = new Set<string>();
	readonly unreachable = new Set<string>();
	/** By member name. */
	readonly distortions = new Map<string, Distortion>();
	readonly clock = { ms: 0 };
	/** By member name. An error is the reason why the Leases cannot be listed. */
	leases: Readonly<Record<string, readonly ListedLease[] | Error>> = {};
	readonly silent = new Set<string>();
	/** Members that answer counts but do not list their budgets. */
	readonly unlisted = new Set<string>();

	constructor(spec?: Readonly<Record<string, unknown>>) {
		for (const member of this.fleet.members) for (const name of ["db-0", "db-1"]) member.addPod(name);
		if (spec) this.fleet.addBudget("db", spec);
	}

	pod(member: string, name: string): FakePod {
		const found = [...this.fleet.member(member).pods.values()].find((each) => each.name === name);
		if (!found) throw new Error(`no pod ${name}`);
		return found;
	}

	get contexts(): readonly KubeContext[] {
		return this.fleet.members.map((member) => this.#context(member));
	}

	get view(): FleetView {
		const members = this.fleet.members.map((member) => this.#agent(member));
		const answering = this.fleet.members.filter(({ name }) => !this.silent.has(name));
		return {
			problems: this.problems,
			fleet: {
				members,
				descriptions: new Map(answering.map((member) => [member.id, member.description])),
				memberOf: (context) => members.find(({ name }) => name === context),
				contextOf: (id) => members.find((member) => member.id === id)?.name,
				listBudgets: (namespaces) => this.fleet.listBudgets(namespaces),
				agentNamespaces: () => ["xpdb-system"],
			},
		};
	}

	async explain(...words: readonly string[]): Promise<Explanation> {
		const { contexts } = this;
		const word = readSubject(words, contexts);
		const options = {
			force: false,
			ignoreDaemonSets: true,
			deleteEmptyDirData: false,
			skipWaitAfterSeconds: 0,
			runtime: { now: () => this.clock.ms, sleep: async () => undefined },
			now: wallClock,
		};
		const explainers = { Pod: explainPod, Node: explainNode, Budget: explainBudget };
		return explainers[word.kind](word, contexts, Promise.resolve(this.view), options);
	}

	#agent(member: FakeMember): AgentCluster {
		const distort = this.distortions.get(member.name) ?? ((count: Count) => count);
		return new Proxy<AgentCluster>(member, {
			get: (target, key) => {
				if (key === "look") {
					return async (request: LookRequest) => distort(await member.look(request), this.clock);
				}
				if (key === "listBudgets" && this.unlisted.has(member.name)) {
					return async () => {
						throw new AgentUnavailableError("no list", member.name);
					};
				}
				if (key === "listLeases") {
					return async () => {
						const leases = this.leases[member.name] ?? [];
						if (leases instanceof Error) throw leases;
						return leases;
					};
				}
				const value: unknown = Reflect.get(target, key);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
	}

	#context(member: FakeMember): KubeContext {
		const pods = (): readonly V1Pod[] => [...member.pods.values()].map((pod) => this.#v1Pod(pod, member));
		const refuse = (path: string): void => {
			if (this.unreachable.has(member.name))
				throw new ConnectionError(`https://${member.name}`, new Error("connect ETIMEDOUT"));
			if (this.forbidden.has(path) || this.forbidden.has(`${member.name} ${path}`)) throw forbidden(path);
		};
		const client = newClient({
			get: (path) => {
				refuse(path);
				if (path === `/api/v1/nodes/${member.name}-n0`) {
					return { metadata: { name: `${member.name}-n0`, uid: "n0", annotations: this.nodeAnnotations } };
				}
				if (path.includes("/daemonsets/")) return {};
				const found = pods().find(({ metadata }) => path === `/api/v1/namespaces/${namespace}/pods/${metadata?.name}`);
				if (!found) throw notFound(`not found: ${path}`);
				return found;
			},
			list: (path) => {
				refuse(path);
				if (path === "/api/v1/pods" || path === `/api/v1/namespaces/${namespace}/pods`) return pods();
				if (path === "/api/v1/nodes")
					return this.nodes.map((name) => ({ metadata: { name: `${member.name}-${name}` } }));
				if (!path.endsWith("/poddisruptionbudgets")) throw notFound(path);
				if (this.native instanceof Error) throw this.native;
				return member.name === "eu" ? this.native : [];
			},
		});
		return { ...newContext(member.name, client), namespace };
	}

	#v1Pod(pod: FakePod, member: FakeMember): V1Pod {
		const { unmanaged = false, ...fields } = this.fields.get(pod.name) ?? {};
		const built = newV1Pod(pod.name, {
			namespace,
			labels: pod.labels,
			annotations: pod.annotations,
			...(!unmanaged && { owner: { kind: "StatefulSet", name: "db" } }),
			phase: pod.pending ? "Pending" : pod.finished ? "Succeeded" : "Running",
			ready: pod.healthy && !pod.finished,
			node: `${member.name}-n0`,
			...fields,
		});
		return { ...built, metadata: { ...built.metadata, uid: pod.uid, resourceVersion: String(pod.version) } };
	}
}
