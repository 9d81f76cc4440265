// Creates a krew index in a local git repository.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface PluginIndex {
	/** For `kubectl krew index add`. */
	readonly url: string;
	publish(manifest: string): void;
}

export function createPluginIndex(dir: string): PluginIndex {
	const plugins = join(dir, "plugins");
	mkdirSync(plugins, { recursive: true });
	const author = ["-c", "user.name=xpdb", "-c", "user.email=xpdb@example.com", "-c", "commit.gpgsign=false"];
	const git = (...args: readonly string[]): void => {
		execFileSync("git", [...author, ...args], { cwd: dir, stdio: "pipe" });
	};
	git("init", "--quiet");
	return {
		url: pathToFileURL(dir).href,
		publish(manifest) {
			writeFileSync(join(plugins, "xpdb.yaml"), manifest);
			git("add", "--all");
			git("commit", "--quiet", "--message", "Publish xpdb");
		},
	};
}
