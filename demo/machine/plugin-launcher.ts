import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Runs a bundle (.js) with this Node. A shipped file runs by itself. */
export function pluginCommand(plugin: string): readonly [string, ...string[]] {
	return plugin.endsWith(".js") ? [process.execPath, plugin] : [plugin];
}

/** Makes DIR/bin with the plugin in it, and returns that folder for the start of the PATH. */
export function writePluginLauncher(dir: string, plugin: string): string {
	const bin = join(dir, "bin");
	mkdirSync(bin, { recursive: true });
	const launcher = join(bin, "kubectl-xpdb");
	const command = pluginCommand(plugin);
	rmSync(launcher, { force: true });
	// A symbolic link, as krew makes it.
	if (command.length === 1) symlinkSync(resolve(plugin), launcher);
	else writeFileSync(launcher, `#!/bin/sh\nexec ${command.map(quote).join(" ")} "$@"\n`, { mode: 0o755 });
	return bin;
}

export function quote(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
