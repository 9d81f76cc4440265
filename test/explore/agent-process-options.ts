import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { Greeting, GreetingReply } from "../../proto/greet.ts";
import type { ApiCall, SimulatedApiServer } from "./simulated-api.ts";
import type { ProcessOptions, SimulatedProcess } from "./simulated-process.ts";
import type { StreamFaults } from "./streamed-views.ts";

/** `Agent`: the process itself, which imports this. */
export interface AgentProcessOptions<Agent> extends ProcessOptions {
	readonly name: string;
	readonly server: SimulatedApiServer;
	/** Carries an API call over the simulated network. */
	readonly carry: <T>(from: SimulatedProcess, call: ApiCall<T>) => Promise<T>;
	/** Its watches on pods and Leases run over simulated streams. */
	readonly streams: StreamFaults | undefined;
	/** Told of what no code here should ever throw. */
	readonly onBug: (error: unknown) => void;
	readonly lineHost: (from: SimulatedProcess) => AgentCluster | undefined;
	/** All members of the fleet. */
	readonly members: (from: Agent) => readonly AgentCluster[];
	/** The budget as other clusters have it now: that is asked for over no network here. */
	readonly budgetElsewhere: (budget: BudgetName) => readonly MemberBudget[];
	/** It keeps in mind who its members were, and greets them. */
	readonly knowsMembers: boolean;
	readonly greet: (from: Agent, id: string, greeting: Greeting) => Promise<GreetingReply>;
}
