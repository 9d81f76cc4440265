import type { AgentPodObject, AgentPorts } from "./agent-command.ts";

/** The addresses of the agents' pods, and how callers reach them. */
export type PodNetwork = {
	takeAddress(): string;
	giveAddress(address: string): void;
	/** Returns ports that are free now, for one run of a process. */
	ports(): Promise<AgentPorts>;
	/** Makes the pod's ports 8443, 8444 and 8080 lead to these. */
	forward(pod: AgentPodObject, address: string, ports: AgentPorts): Promise<void>;
	/** The address of the agents' Service. Port 0 means any free port. */
	readonly service: { readonly address: string; readonly grpc: number; readonly peers: number };
};
