/**
 * Returns the environment of a Node process that runs this program instead of its own. For example, giveAgentsEnvironment() then runs
 * agents of another version.
 */
export function otherProgram(path: string): Readonly<Record<string, string>> {
	return {
		NODE_OPTIONS: `--import=${new URL("other-program.ts", import.meta.url).href}`,
		XPDB_OTHER_PROGRAM: path,
	};
}
