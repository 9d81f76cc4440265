import type { AgentPodObject, AgentPorts } from "./agent-command.ts";

/** Assigns addresses and ports to the agents' pods. */
export type PodNetwork = {
	takeAddress(): string;
	giveAddress(address: string): void;
	/** Returns free ports for one run of a process. */
	ports(): Promise<AgentPorts>;
	/** Routes the pod's ports 8443, 8444 and 8080 to these ports. */
	forward(pod: AgentPodObject, address: string, ports: AgentPorts): Promise<void>;
	/** Port 0 means any free port. */
	readonly service: { readonly address: string; readonly grpc: number; readonly peers: number };
};
