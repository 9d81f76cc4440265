// For which processors there is an image, in the words of each that is asked.
import { type Target, targets } from "../package/targets.ts";

export interface Platform {
	/** Go's and Debian's. */
	readonly architecture: "amd64" | "arm64";
	/** The compiler's. */
	readonly triplet: string;
	readonly node: Target["node"];
}

export const platforms: readonly Platform[] = [
	{ architecture: "amd64", triplet: "x86_64-linux-gnu", node: nodeFor("amd64") },
	{ architecture: "arm64", triplet: "aarch64-linux-gnu", node: nodeFor("arm64") },
];

/** The one that the plugin has inside. */
function nodeFor(architecture: Target["arch"]): Target["node"] {
	const target = targets.find(({ os, arch }) => os === "linux" && arch === architecture);
	if (target === undefined) throw new Error(`There is no Node for Linux on ${architecture}`);
	return target.node;
}
