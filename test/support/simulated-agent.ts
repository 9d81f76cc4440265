// Agents in front of a simulated API server, on a clock that the test moves. The test decides what their watches show and which requests
// are lost.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import { BudgetHistories } from "../../agent/leases/budget-histories.ts";
import { LocalCluster, type LocalClusterOptions } from "../../agent/leases/local-cluster.ts";
import { ReservationSweep } from "../../agent/leases/reservation-sweep.ts";
import { budgetViewOf, leaseViewOf, ObjectStore } from "../../agent/views/object-views.ts";
import { PodStore } from "../../agent/views/pod-view.ts";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { AcquireOptions, AcquireRequest, MemberBudget } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import { type BudgetLease, leaseName, parseLease } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { type ApiCall, clusterApi, SimulatedApiServer } from "../explore/simulated-api.ts";
import { budget, labels, memberBudget, newSpec, selector } from "./build-count.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** Runs before a request is executed, or before its answer arrives. It may throw or wait. */
export type Interception = (call: Omit<ApiCall<unknown>, "execute">) => void | Promise<void>;

export interface SimulatedAgent {
	readonly api: ClusterApi;
	readonly pods: PodStore;
	readonly local: LocalCluster;
	/** Reads nothing until its job begins. */
	readonly histories: BudgetHistories;
	readonly sweep: ReservationSweep;
	/** "VERB RESOURCE NAME" of each executed request. */
	readonly requests: string[];
	/** Problems that the agent reported, besides its answers. */
	readonly problems: unknown[];
	/** The agent's connection to the API server. Undefined if it has none. */
	connection: number | undefined;
	before: Interception;
	after: Interception;
	/** Makes the watches show everything until now, and a sign of life. */
	see(): void;
	/** Makes the watches show only a sign of life, without new events. */
	live(): void;
	relistBudgets(): void;
}

export interface SimulatedAgents {
	readonly clock: ManualClock;
	readonly server: SimulatedApiServer;
	readonly newAgent: (options?: Partial<LocalClusterOptions>) => SimulatedAgent;
	readonly newPod: (name: string, more?: Partial<PodRecord>) => PodRecord;
	readonly lease: (name?: BudgetName) => BudgetLease;
}

export const unavailable = new AgentUnavailableError("The API server does not answer", "eu-1");

/** Loses requests of this kind if used as `before`, or only their answers if used as `after`. */
export function losing(what: string): Interception {
	return ({ verb, resource }) => {
		if (`${verb} ${resource}` === what) throw unavailable;
	};
}

export const asks = (nonce: string, more: Partial<AcquireRequest> = {}): AcquireRequest => ({
	budget,
	selector,
	holder: `drain of ${nonce}`,
	nonce,
	candidates: [],
	...more,
});

export function atOnce(signal: AbortSignal = new AbortController().signal): AcquireOptions {
	return { wait: false, signal };
}

/** Simulates a cluster with budget shop/db (`maxUnavailable: 1`). Without `fleet`, it is the only member. */
export function simulateCluster({
	clusterId = "eu",
	clock = createManualClock(),
	fleet,
}: {
	readonly clusterId?: string;
	readonly clock?: ManualClock;
	readonly fleet?: readonly FleetMember[];
} = {}): SimulatedAgents {
	const server = new SimulatedApiServer({ clusterId, ...(fleet && { fleet }) });
	server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 })));
	let ids = 0;
	const newId = () => `touch-${++ids}`;
	return {
		clock,
		server,
		newAgent: (options) => newAgent(server, clock, { newId, ...options }),
		newPod: (name, more) => server.createPod({ name, namespace: "shop", labels, ...more }),
		lease: (name = budget) => {
			const object = server.leases.get(leaseName(name));
			if (!object) throw new Error(`Budget "${name.name}" has no Lease`);
			return parseLease(object);
		},
	};
}

function newAgent(
	server: SimulatedApiServer,
	clock: ManualClock,
	options: Partial<LocalClusterOptions>,
): SimulatedAgent {
	const requests: string[] = [];
	const problems: unknown[] = [];
	const ownPod = server.createAgentPod(`xpdb-agent-${server.podsMade}`);
	const calls = clusterApi(server, async (call) => {
		await agent.before(call);
		requests.push(`${call.verb} ${call.resource} ${call.name}`.trim());
		const answer = call.execute();
		await agent.after(call);
		return answer;
	});
	const api = { ...calls, connection: () => agent.connection };
	const pods = new PodStore({ clock });
	const asked: ClusterApi = options.api ?? api;
	const touchPod = asked.touchPod.bind(asked);
	asked.touchPod = async (pod, value) => {
		const touched = await touchPod(pod, value);
		// The watch shows the touch of the agent's own pod immediately.
		if (pod.uid === ownPod.uid) for (const event of server.podEvents) pods.apply(event);
		return touched;
	};
	const budgets = new ObjectStore<MemberBudget>({
		clock,
		keyOf: ({ name }) => `${name.namespace}/${name.name}`,
		namespaceOf: ({ name }) => name.namespace,
	});
	const leases = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
	const budgetView = budgetViewOf(budgets, { isRecent: true, wanted: () => undefined });
	const leaseView = leaseViewOf(leases);
	const histories = new BudgetHistories({ pods, leases: leaseView, budgets: budgetView, clock });
	const local = new LocalCluster({
		pods,
		budgets: budgetView,
		leaseView,
		histories,
		clock,
		name: "eu-1",
		version: "0.2.0",
		leaseNamespace: "xpdb-system",
		ownPod,
		report: (problem) => void problems.push(problem),
		...options,
		api: asked,
	});
	const sweep = new ReservationSweep({
		cluster: local,
		pods,
		leases: () => leaseView.leases(),
		clock,
		extraDelayMs: () => 0,
		report: (problem) => void problems.push(problem),
	});
	const sinks = [pods, budgets, leases];
	const agent: SimulatedAgent = {
		api,
		pods,
		local,
		histories,
		sweep,
		requests,
		problems,
		connection: 1,
		before: () => undefined,
		after: () => undefined,
		see() {
			for (const event of server.podEvents) pods.apply(event);
			for (const event of server.leaseEvents) leases.apply(event);
			for (const event of server.budgetEvents) budgets.apply(event);
			for (const sink of sinks) sink.bookmark(String(server.revision));
			agent.live();
		},
		live() {
			for (const sink of sinks) sink.signOfLife(clock.now());
		},
		relistBudgets() {
			budgets.replace(structuredClone([...server.budgets.values()]), String(server.revision));
		},
	};
	pods.replace(server.listPods().pods, String(server.revision));
	budgets.replace([...server.budgets.values()], String(server.revision));
	leases.replace([...server.leases.values()], String(server.revision));
	agent.live();
	return agent;
}

export function settle(): Promise<void> {
	return new Promise((resolve) => {
		setImmediate(resolve);
	});
}
