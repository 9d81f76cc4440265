// Compares the flags of drain, cordon, uncordon and all global flags with kubectl's: name, letter and default.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../../plugin/command-table.ts";
import { formatDuration } from "../../../plugin/flags/duration.ts";
import type { Flag } from "../../../plugin/flags/flag.ts";
import { globalFlags } from "../../../plugin/flags/global-flags.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";

interface KubectlFlag {
	readonly name: string;
	readonly short: string | undefined;
	readonly default: string;
}

/** Reads the flags from kubectl's help, which has lines such as "    -l, --selector='':". */
function readFlags(args: readonly string[]): readonly KubectlFlag[] {
	const help = execFileSync(join(sharedFleet().dir, "bin", "kubectl"), args, { encoding: "utf8" });
	return [...help.matchAll(/^ {4}(?:-(\w), )?--([\w-]+)=(.*):$/gm)].map(([, short, name = "", value = ""]) => ({
		name,
		short,
		default: value,
	}));
}

function printDefault({ kind, default: value }: Flag): string {
	switch (kind) {
		case "boolean":
			return String(value ?? false);
		case "duration":
			return formatDuration(Number(value ?? 0));
		case "number":
			return String(value ?? 0);
		case "text":
		case "timeout":
			return `'${value ?? ""}'`;
		case "list":
			return "[]";
	}
}

describeOnFleet("flags", () => {
	for (const name of ["drain", "cordon", "uncordon"]) {
		test(`kubectl xpdb ${name} has those of kubectl ${name}, with their letters and defaults`, () => {
			const theirs = readFlags([name, "--help"]);
			expect(theirs.length).toBeGreaterThanOrEqual(2);
			const flags = commands.find((command) => command.name === name)?.flags ?? {};
			const ours = theirs.map(({ name: flag }) => {
				const own = flags[flag];
				return { name: flag, short: own?.short, default: own && printDefault(own) };
			});
			expect(ours).toEqual(theirs);
		});
	}

	test("every command has those of kubectl options, with their letters", () => {
		const theirs = readFlags(["options"]);
		expect(theirs.length).toBeGreaterThan(20);
		const named = ({ name, short }: Pick<KubectlFlag, "name" | "short">) => ({ name, short });
		const ours = theirs.map(({ name }) => ({ name: globalFlags[name] && name, short: globalFlags[name]?.short }));
		expect(ours).toEqual(theirs.map(named));
	});
});
