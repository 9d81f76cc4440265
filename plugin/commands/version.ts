import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { clientVersion } from "../kubernetes/client-version.ts";
import { writeDocument } from "../output/read-format.ts";
import { tableLines } from "../output/table.ts";
import { UsageError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";
import type { TextSink } from "../terminal/streams.ts";

type Format = "table" | "json" | "yaml";

export const runVersion: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	const format = readFormat(textFlag(input, "output"));
	if (format === "table") streams.stdout.write(`Client: ${clientVersion}\n`);
	if (booleanFlag(input, "client")) {
		if (format !== "table") writeDocument(streams.stdout, format, { clientVersion: describeClient() });
		return exitCode.done;
	}
	// Loaded only here, so that --client waits neither for clusters nor for this code.
	const { withFleet } = await import("../run/with-contexts.ts");
	return withFleet(input, deps, async ({ fleet, uncovered }) => {
		if (format === "table") writeAgents(streams.stdout, fleet);
		else writeDocument(streams.stdout, format, { clientVersion: describeClient(), agents: describeAgents(fleet) });
		for (const { name } of uncovered) streams.stderr.write(`${name}: no xpdb agent in this cluster\n`);
		for (const problem of fleet?.problems ?? []) streams.stderr.write(`error: ${problem}\n`);
		return fleet && fleet.problems.length > 0 ? exitCode.failedClosed : exitCode.done;
	});
};

/** Reads --output. Like kubectl version, accepts only json and yaml. */
function readFormat(output: string): Format {
	if (output === "") return "table";
	if (output === "json" || output === "yaml") return output;
	throw new UsageError("--output must be 'yaml' or 'json'");
}

/** Returns the fields of `kubectl version -o json` that have a meaning here, and Node's version. */
function describeClient(): object {
	const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };
	const systems: Readonly<Record<string, string>> = { win32: "windows" };
	const [major, minor] = clientVersion.slice(1).split(".");
	const system = systems[process.platform] ?? process.platform;
	const platform = `${system}/${architectures[process.arch] ?? process.arch}`;
	return { major, minor, gitVersion: clientVersion, nodeVersion: process.version, platform };
}

/** Returns an entry for each member. Its gitVersion is null if the member's agents do not answer. */
function describeAgents(fleet: Fleet | undefined): readonly object[] {
	return (fleet?.members ?? []).map(({ id, name }) => {
		const agent = fleet?.descriptions.get(id);
		return { cluster: name, id, gitVersion: agent ? agent.version : null, features: agent ? agent.features : [] };
	});
}

function writeAgents(stdout: TextSink, fleet: Fleet | undefined): void {
	const rows = (fleet?.members ?? []).map(({ id, name }) => {
		const agent = fleet?.descriptions.get(id);
		return [name, agent?.version ?? "?", agent?.features.join(",") || "-", id];
	});
	if (rows.length === 0) return;
	for (const line of tableLines(["CLUSTER", "AGENT", "FEATURES", "ID"], rows)) stdout.write(`${line}\n`);
}
