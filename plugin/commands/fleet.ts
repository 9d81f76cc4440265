// Implements `kubectl xpdb fleet [list]`.
import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import { accessAgents } from "../fleet/agent-access.ts";
import { readFleet } from "../check/read-fleet.ts";
import { fleetDocument } from "../check/fleet-document.ts";
import { fleetMembers, memberCells, memberHeaders, wideMemberHeaders } from "../check/fleet-members.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { tableLines } from "../output/table.ts";
import { withContexts } from "../run/with-contexts.ts";
import { UsageError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";

export const runFleet: CommandRunner = async (input, deps) => {
	const { stdout, stderr } = deps.streams;
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "name", "wide"]);
	const [word = "list", ...more] = input.words;
	if (word !== "list" || more.length > 0) {
		throw new UsageError("USAGE: fleet [list] [flags]", "See 'kubectl xpdb fleet --help' for usage.");
	}
	return withContexts(input, deps, async (contexts) => {
		const accesses = await Promise.all(
			contexts.map(async (context) => [context.name, await accessAgents(context)] as const),
		);
		try {
			const members = fleetMembers(await readFleet(accesses, new Map()), Date.now() / 1_000);
			const { rows, differences, warnings } = members;
			const silent = accesses.flatMap(([name, access]) =>
				access.kind === "reached"
					? []
					: [`${name}: ${access.kind === "failed" ? access.problem : "no xpdb agent in this cluster"}`],
			);
			const problems = [...silent, ...members.problems];
			if (isDocument(format)) writeDocument(stdout, format, fleetDocument({ ...members, problems }));
			else if (format === "name") for (const { name } of rows) stdout.write(`${name}\n`);
			else if (rows.length > 0) {
				const isWide = format === "wide";
				const headers = isWide ? wideMemberHeaders : memberHeaders;
				const hasHeaders = !booleanFlag(input, "no-headers");
				const cells = rows.map((row) => memberCells(row, isWide));
				for (const line of tableLines(hasHeaders ? headers : undefined, cells)) stdout.write(`${line}\n`);
			}
			for (const text of warnings) stderr.write(`Warning: ${text}\n`);
			for (const text of [...differences, ...problems]) stderr.write(`error: ${text}\n`);
			return differences.length + problems.length > 0 ? exitCode.failedClosed : exitCode.done;
		} finally {
			for (const [, access] of accesses) if (access.kind === "reached") access.close();
		}
	});
};
