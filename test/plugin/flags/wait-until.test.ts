import { expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { readReplaced } from "../../../plugin/flags/wait-until.ts";

async function read(...argv: readonly string[]): Promise<boolean> {
	const parsed = await parseCommandLine(argv);
	if (parsed.kind !== "command") throw new Error("no command");
	return readReplaced(parsed.input, parsed.input.argv[0] === "drain" ? "drain" : "evict");
}

test("a drain and an eviction wait for replacements only where they are told to", async () => {
	for (const command of ["drain", "evict"]) {
		expect(await read(command, "x")).toBe(false);
		expect(await read(command, "x", "--for=deleted")).toBe(false);
		expect(await read(command, "x", "--for=replaced")).toBe(true);
		await expect(read(command, "x", "--for=ready")).rejects.toMatchObject({
			message: 'Invalid --for value (ready). Must be "deleted" or "replaced".',
			hint: `See 'kubectl xpdb ${command} --help' for usage.`,
		});
	}
});

test("a plan takes the flag of its drain", async () => {
	expect(await parseCommandLine(["plan", "n1", "--for=replaced"])).toMatchObject({ kind: "command" });
});
