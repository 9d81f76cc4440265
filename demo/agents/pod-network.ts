import type { AgentPodObject, AgentPorts } from "./agent-command.ts";

/** Where the pods of agents live, and how others get to them. */
export type PodNetwork = {
	takeAddress(): string;
	giveAddress(address: string): void;
	/** Free at this moment, for one life of a process. */
	ports(): Promise<AgentPorts>;
	/** Makes the pod's ports 8443, 8444 and 8080 lead there. */
	forward(pod: AgentPodObject, address: string, ports: AgentPorts): Promise<void>;
	/** Where the agents' Service listens; port 0 for any. */
	readonly service: { readonly address: string; readonly grpc: number; readonly peers: number };
};
