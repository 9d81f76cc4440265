// Opens the contexts, and the fleet if requested, for a command that is not a run (run-report.ts), and closes them afterwards.
import type { CommandDependencies, CommandInput } from "../flags/command.ts";
import { connectFleet } from "../fleet/connect-fleet.ts";
import type { FleetConnection } from "../fleet/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { openContexts } from "../kubernetes/open-contexts.ts";
import { refuseEmptyNames } from "../nodes/resource-argument.ts";

export async function withContexts<T>(
	input: CommandInput,
	{ env, streams, terminal, interrupts }: CommandDependencies,
	read: (contexts: readonly KubeContext[]) => Promise<T>,
): Promise<T> {
	refuseEmptyNames(input.words);
	const contexts = openContexts(input.globals, env, streams.stderr, { turns: terminal?.turns, stop: interrupts.stop });
	try {
		return await read(contexts);
	} finally {
		for (const { client } of contexts) client.close();
	}
}

/**
 * For commands that only show data: members that do not answer appear in the fleet's problems. `listed` returns the namespaces whose
 * budgets to list while connecting. Empty: all.
 */
export function withFleet<T>(
	input: CommandInput,
	deps: CommandDependencies,
	read: (connection: FleetConnection, contexts: readonly KubeContext[]) => Promise<T>,
	listed?: (contexts: readonly KubeContext[]) => readonly string[],
): Promise<T> {
	return withContexts(input, deps, async (contexts) => {
		const connection = await connectFleet(contexts, { mayMiss: true, ...(listed && { namespaces: listed(contexts) }) });
		try {
			return await read(connection, contexts);
		} finally {
			connection.fleet?.close();
		}
	});
}
