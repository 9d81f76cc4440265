/**
 * Returns the environment of a Node process that runs another program than it was started with. With giveAgentsEnvironment(), agents of
 * another version run in the pods of the same Deployment.
 */
export function otherProgram(path: string): Readonly<Record<string, string>> {
	return {
		NODE_OPTIONS: `--import=${new URL("other-program.ts", import.meta.url).href}`,
		XPDB_OTHER_PROGRAM: path,
	};
}
