import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** How it is started: a bundle by the Node that runs this, the file that is shipped by itself. */
export function pluginCommand(plugin: string): readonly [string, ...string[]] {
	return plugin.endsWith(".js") ? [process.execPath, plugin] : [plugin];
}

/** Makes DIR/bin, to be put first on the PATH, with our plugin in it; returns that folder. */
export function writePluginLauncher(dir: string, plugin: string): string {
	const bin = join(dir, "bin");
	mkdirSync(bin, { recursive: true });
	const launcher = join(bin, "kubectl-xpdb");
	const command = pluginCommand(plugin);
	rmSync(launcher, { force: true });
	// As krew puts it there.
	if (command.length === 1) symlinkSync(resolve(plugin), launcher);
	else writeFileSync(launcher, `#!/bin/sh\nexec ${command.map(quote).join(" ")} "$@"\n`, { mode: 0o755 });
	return bin;
}

/** As a shell reads it back: one word, whatever is in it. */
export function quote(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
