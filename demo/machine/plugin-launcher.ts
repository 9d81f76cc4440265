import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Returns the command that starts the plugin: a bundle runs with this Node, and the shipped file runs by itself. */
export function pluginCommand(plugin: string): readonly [string, ...string[]] {
	return plugin.endsWith(".js") ? [process.execPath, plugin] : [plugin];
}

/** Makes DIR/bin with our plugin in it, and returns that folder. The caller puts it first on the PATH. */
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

/** Quotes a text so that a shell reads it as one word, whatever it contains. */
export function quote(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
