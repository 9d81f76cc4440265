import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes DIR/bin, to be put first on the PATH, with our plugin run by the Node that runs this; returns that folder. */
export function writePluginLauncher(dir: string, plugin: string): string {
	const bin = join(dir, "bin");
	mkdirSync(bin, { recursive: true });
	const command = `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(plugin)} "$@"\n`;
	writeFileSync(join(bin, "kubectl-xpdb"), command, { mode: 0o755 });
	return bin;
}

/** As a shell reads it back: one word, whatever is in it. */
export function quote(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
