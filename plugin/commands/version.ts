// kubectl xpdb version
import { booleanFlag, type CommandRunner } from "../command.ts";
import { clientVersion } from "../client-version.ts";
import { exitCode } from "../exit.ts";
import { connectFleet } from "../fleet.ts";
import { openContexts } from "../open-contexts.ts";
import { tableLines } from "../output/table.ts";

export const runVersion: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	streams.stdout.write(`Client: ${clientVersion}\n`);
	if (booleanFlag(input, "client")) return exitCode.done;
	const contexts = openContexts(input.globals, deps.env, streams.stderr);
	try {
		const { fleet, uncovered } = await connectFleet(contexts, { mayMiss: true });
		try {
			const rows = (fleet?.members ?? []).map(({ id, name }) => {
				const agent = fleet?.descriptions.get(id);
				return [name, agent?.version ?? "?", agent?.features.join(",") || "-", id];
			});
			if (rows.length > 0) {
				for (const line of tableLines(["CLUSTER", "AGENT", "FEATURES", "ID"], rows)) streams.stdout.write(`${line}\n`);
			}
			for (const { name } of uncovered) streams.stderr.write(`${name}: no xpdb agent in this cluster\n`);
			for (const problem of fleet?.problems ?? []) streams.stderr.write(`error: ${problem}\n`);
			return fleet && fleet.problems.length > 0 ? exitCode.failedClosed : exitCode.done;
		} finally {
			fleet?.close();
		}
	} finally {
		for (const { client } of contexts) client.close();
	}
};
