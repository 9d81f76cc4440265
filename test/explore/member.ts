// A member of the fleet as a simulated process asks it: every call goes over the simulated network to one of its agents.
import type { Acquisition } from "../../disruption/cluster.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { Network } from "./network.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface MemberOptions {
	readonly from: SimulatedProcess;
	readonly cluster: SimulatedCluster;
	readonly network: Network;
	/** Index of the one agent that is asked while it lives; any of them where undefined. */
	readonly agent: number | undefined;
	/** To the agent that keeps the line: it does not pass the call on again. */
	readonly here?: boolean;
	/** Whether this agent passes callers on to another, whose line counts then: its own is of the time before there was one. */
	readonly passesOn?: (agent: AgentProcess) => boolean;
	/** A caller that does not wait was given a Lease past those who do. */
	readonly onPassedLine: (agent: AgentProcess, what: string) => void;
}

export function simulatedMember(options: MemberOptions): AgentCluster {
	const { from, cluster, network, here = false } = options;
	const agents = (): readonly AgentProcess[] => {
		const alive = cluster.agents.filter((agent) => agent.alive);
		const own = options.agent === undefined ? undefined : alive[options.agent];
		return own ? [own] : alive;
	};
	const ask = <T>(
		what: string,
		detail: unknown,
		run: (agent: AgentProcess, signal: AbortSignal) => Promise<T>,
		signal?: AbortSignal,
	): Promise<T> =>
		network.send<T>({
			from,
			cluster: cluster.id,
			what,
			detail: () => JSON.stringify(detail),
			routes: () =>
				agents().map((agent) => ({ name: agent.name, process: agent, run: (gone: AbortSignal) => run(agent, gone) })),
			mayDouble: true,
			...(signal && { signal }),
		});
	const named = (acquisition: Acquisition): string =>
		`${acquisition.budget.name} (acquisition ${acquisition.leaseTransitions}, ${acquisition.nonce})`;
	return {
		id: cluster.id,
		name: cluster.id,
		acquire: (request, acquireOptions) =>
			ask(
				`acquire ${request.budget.name}${acquireOptions.wait ? " in line" : ""} (${request.nonce})`,
				request,
				(agent, gone) => {
					const passed = { wait: acquireOptions.wait, signal: gone };
					const waiting = options.passesOn?.(agent) ? 0 : agent.local.lineLength(request.budget);
					const acquired = here ? agent.local.acquireHere(request, passed) : agent.local.acquire(request, passed);
					if (acquireOptions.wait || waiting === 0) return acquired;
					return acquired.then((outcome) => {
						if (outcome.kind === "acquired") options.onPassedLine(agent, `${from.name} under ${request.budget.name}`);
						return outcome;
					});
				},
				acquireOptions.signal,
			),
		count: (acquisition, request) =>
			ask(`count ${named(acquisition)}`, [acquisition, request], (agent) => agent.local.count(acquisition, request)),
		renew: (acquisition) => ask(`renew ${named(acquisition)}`, acquisition, (agent) => agent.local.renew(acquisition)),
		commit: (acquisition, grants) =>
			ask(
				`commit ${named(acquisition)} granting ${grants.map(({ pod, id }) => `${pod.name} as ${id}`).join(", ") || "nothing"}`,
				[acquisition, grants],
				(agent) => agent.local.commit(acquisition, grants),
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
		look: (request) => ask(`look at ${request.budget.name}`, request, (agent) => agent.local.look(request)),
	};
}
