// A member of the fleet as a simulated process calls it. Every call goes over the simulated network to one of the member's agents.
import type { Acquisition } from "../../disruption/budget/cluster.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { KnownBudgets } from "./known-budgets.ts";
import { type Network, routesTo } from "./network.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface MemberOptions {
	readonly from: SimulatedProcess;
	readonly cluster: SimulatedCluster;
	readonly network: Network;
	/** The agent to ask, as an index into the living agents. Undefined, or no such agent: any living agent can be asked. */
	readonly agent: number | undefined;
	/** Whether the call goes to the agent that keeps the line, which does not forward it. */
	readonly here?: boolean;
	/** Whether this agent forwards callers to another agent, so that only the other agent's line counts. */
	readonly passesOn?: (agent: AgentProcess) => boolean;
	readonly budgets: KnownBudgets;
	readonly writtenHolds: boolean;
	/** Called when a caller that does not wait gets a Lease before callers that wait in line. */
	readonly onPassedLine: (agent: AgentProcess, what: string) => void;
}

export function simulatedMember(options: MemberOptions): AgentCluster {
	const { from, cluster, network, budgets, here = false, writtenHolds } = options;
	const agents = (): readonly AgentProcess[] => {
		const alive = cluster.agents.filter((agent) => agent.alive);
		const own = options.agent === undefined ? undefined : alive[options.agent];
		return own ? [own] : alive;
	};
	const ask = <T>(
		what: string,
		detail: unknown,
		run: (agent: AgentProcess, gone: () => AbortSignal) => Promise<T>,
		{ signal, first }: { readonly signal?: AbortSignal; readonly first?: AgentProcess | undefined } = {},
	): Promise<T> =>
		network.send<T>({
			from,
			cluster: cluster.id,
			what,
			detail: () => JSON.stringify(detail),
			routes: routesTo(() => (first?.alive ? [first] : agents()), run),
			mayDouble: true,
			...(signal && { signal }),
		});
	const named = (acquisition: Acquisition): string =>
		`${acquisition.budget.name} (acquisition ${acquisition.leaseTransitions}, ${acquisition.nonce})`;
	return {
		id: cluster.id,
		name: cluster.id,
		acquire: async (sent, acquireOptions) => {
			const request = writtenHolds ? { ...sent, mayBeUnwritten: false } : sent;
			const outcome = await ask(
				`acquire ${request.budget.name}${acquireOptions.wait ? " in line" : ""} (${request.nonce})`,
				request,
				async (agent, gone) => {
					const passed = { wait: acquireOptions.wait, signal: gone() };
					const waiting = options.passesOn?.(agent) ? 0 : agent.local.lineLength(request.budget);
					const known = budgets.knownTo(agent);
					const askedAt = budgets.now;
					const acquired = await (here
						? agent.local.acquireHere(request, passed)
						: agent.local.acquire(request, passed));
					if (acquired.kind !== "acquired") return acquired;
					budgets.counted(agent, acquired, known, askedAt);
					if (!acquireOptions.wait && waiting > 0)
						options.onPassedLine(agent, `${from.name} under ${request.budget.name}`);
					return acquired;
				},
				{ signal: acquireOptions.signal },
			);
			if (outcome.kind === "acquired") budgets.heard(outcome);
			return outcome;
		},
		count: async (acquisition, request) => {
			const count = await ask(`count ${named(acquisition)}`, [acquisition, request], async (agent) => {
				const known = budgets.knownTo(agent);
				const counted = await agent.local.count(acquisition, request);
				budgets.counted(agent, { acquisition, count: counted }, known);
				return counted;
			});
			budgets.heard({ acquisition, count });
			return count;
		},
		renew: (acquisition) => ask(`renew ${named(acquisition)}`, acquisition, (agent) => agent.local.renew(acquisition)),
		commit: (acquisition, grants) =>
			ask(
				`commit ${named(acquisition)} granting ${grants.map(({ pod, id }) => `${pod.name} as ${id}`).join(", ") || "nothing"}`,
				[acquisition, grants],
				(agent) => agent.local.commit(acquisition, grants),
				{ first: budgets.takeAsked(acquisition) },
			),
		release: (acquisition) =>
			ask(`release ${named(acquisition)}`, acquisition, (agent) => agent.local.release(acquisition)),
		confirm: (budget, ids) =>
			ask(`confirm ${budget.name} ${ids.join(", ")}`, [budget, ids], (agent) => agent.local.confirm(budget, ids)),
		cancel: (budget, ids, how) =>
			ask(`${how.sent ? "cancel" : "take back"} ${budget.name} ${ids.join(", ")}`, [budget, ids, how], (agent) =>
				agent.local.cancel(budget, ids, how),
			),
		describe: () => ask("describe", "", (agent) => agent.local.describe()),
		listBudgets: (namespaces) => ask("list budgets", namespaces, (agent) => agent.local.listBudgets(namespaces)),
		watchBudgets: (namespaces, watching) =>
			ask("watch budgets", namespaces, (agent) => agent.local.watchBudgets(namespaces, watching)),
		listLeases: (scopes) => ask("list leases", scopes, (agent) => agent.local.listLeases(scopes)),
		endHolding: (holding) =>
			ask(`end a holding of ${holding.budget.name}`, holding, (agent) => agent.local.endHolding(holding)),
		look: (request) => ask(`look at ${request.budget.name}`, request, (agent) => agent.local.look(request)),
	};
}
