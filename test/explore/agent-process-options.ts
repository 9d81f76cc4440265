import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { Greeting, GreetingReply } from "../../proto/greet.ts";
import type { ApiCall, SimulatedApiServer } from "./simulated-api.ts";
import type { ProcessOptions, SimulatedProcess } from "./simulated-process.ts";
import type { StreamFaults } from "./streamed-views.ts";

/** `Agent` is AgentProcess. It is a type parameter because agent-process.ts imports this file. */
export interface AgentProcessOptions<Agent> extends ProcessOptions {
	readonly name: string;
	readonly server: SimulatedApiServer;
	/** The pod that the agent runs in. */
	readonly ownPod: { readonly namespace: string; readonly name: string };
	readonly carry: <T>(from: SimulatedProcess, call: ApiCall<T>) => Promise<T>;
	/** If set, the watches on pods and Leases run over simulated streams. */
	readonly streams: StreamFaults | undefined;
	/** Called with errors that the code under test must never throw. */
	readonly onBug: (error: unknown) => void;
	readonly lineHost: (from: SimulatedProcess) => AgentCluster | undefined;
	readonly members: (from: Agent) => readonly AgentCluster[];
	/** Returns this budget as the other clusters have it now, without the simulated network. */
	readonly budgetElsewhere: (budget: BudgetName) => readonly MemberBudget[];
	/** Whether the agent remembers its members and greets them. */
	readonly knowsMembers: boolean;
	readonly greet: (from: Agent, id: string, greeting: Greeting) => Promise<GreetingReply>;
}
