import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../plugin/cli.ts";
import { commands } from "../../plugin/command-table.ts";

async function parse(...argv: readonly string[]) {
	const parsed = await parseCommandLine(argv);
	if (parsed.kind !== "command") throw new Error(`help instead of a command: ${parsed.text}`);
	return parsed;
}

describe("parseCommandLine()", () => {
	test("finds the command behind global flags", async () => {
		const { command, input } = await parse("-n", "shop", "evict", "db-0", "--context", "eu");
		expect(command.name).toBe("evict");
		expect(input.words).toEqual(["db-0"]);
		expect(input.globals).toMatchObject({ namespace: "shop", context: "eu" });
	});

	test("finds a command of two words, and takes its words for none of the first", async () => {
		const parsed = await parseCommandLine(["--context", "leases", "leases", "release", "db", "--confirm=db"]);
		expect(parsed).toMatchObject({ kind: "command", command: { name: "leases release" } });
		expect(parsed).toMatchObject({ input: { words: ["db"], flags: { confirm: "db", context: "leases" } } });
		const shown = await parseCommandLine(["leases", "db", "release"]);
		expect(shown).toMatchObject({ command: { name: "leases" }, input: { words: ["db", "release"] } });
	});

	test("gives kubectl's defaults", async () => {
		const { input } = await parse("drain", "n1");
		expect(input.flags).toMatchObject({
			"grace-period": -1,
			timeout: 0,
			"chunk-size": 500,
			"max-nodes": 1,
			"dry-run": "none",
		});
	});

	test("reads values", async () => {
		const { input } = await parse("drain", "n1", "--force", "--timeout=1m30s", "--grace-period=0", "--dry-run", "n2");
		expect(input.flags).toMatchObject({ force: true, timeout: 90_000, "grace-period": 0, "dry-run": "unchanged" });
		expect(input.words).toEqual(["n1", "n2"]);
	});

	test("the last of two values wins, lists keep all", async () => {
		const { input } = await parse(
			"evict",
			"p",
			"--timeout=1s",
			"--timeout=2s",
			"--contexts=a,b",
			"--as-group=x",
			"--as-group=y,z",
		);
		expect(input.flags["timeout"]).toBe(2_000);
		expect(input.globals.contexts).toEqual(["a", "b"]);
		expect(input.globals.asGroup).toEqual(["x", "y,z"]);
	});

	test("a word that looks like a number stays a word", async () => {
		const { input } = await parse("drain", "010", "--", "-1");
		expect(input.words).toEqual(["010", "-1"]);
	});

	test("a value that looks like a flag of yargs stays a value", async () => {
		const { input } = await parse("drain", "n1", "--selector=--help");
		expect(input.flags["selector"]).toBe("--help");
	});

	test("a word that looks like a command or a value of yargs stays a word", async () => {
		const { command, input } = await parse("evict", "help", "", "version", "-", "--", "--help", "$0");
		expect(command.name).toBe("evict");
		expect(input.words).toEqual(["help", "", "version", "-", "--help", "$0"]);
	});

	test("a value keeps its quotes and its dots, and a number of a text its zeros", async () => {
		const { input } = await parse("evict", "p", `--selector="a"`, "--as=a.b", "--user=007");
		expect(input.flags).toMatchObject({ selector: '"a"', as: "a.b", user: "007" });
	});

	test("nothing behind -- is a command", async () => {
		expect(await parseCommandLine(["--", "evict", "p"])).toMatchObject({ kind: "help" });
	});

	const wrong: readonly { readonly argv: readonly string[]; readonly message: string; readonly hint: string }[] = [
		{
			argv: ["drian", "n1"],
			message: 'unknown command "drian" for "kubectl xpdb"',
			hint: "Did you mean drain?\nRun 'kubectl xpdb --help' for usage.",
		},
		{
			argv: ["get", "pods"],
			message: 'unknown command "get" for "kubectl xpdb"',
			hint: "Run 'kubectl xpdb --help' for usage.",
		},
		...["x", "", "-", "bogus", "constructor"].map((word) => ({
			argv: [word],
			message: `unknown command "${word}" for "kubectl xpdb"`,
			hint: "Run 'kubectl xpdb --help' for usage.",
		})),
		{
			argv: ["drian", "--bogus", "--help"],
			message: 'unknown command "drian" for "kubectl xpdb"',
			hint: "Did you mean drain?\nRun 'kubectl xpdb --help' for usage.",
		},
		{
			argv: ["leases", "release", "db", "-w"],
			message: "unknown shorthand flag: 'w' in -w",
			hint: "See 'kubectl xpdb leases release --help' for usage.",
		},
		{
			argv: ["ops", "all"],
			message: "extra arguments: [all]",
			hint: "See 'kubectl xpdb ops --help' for usage.",
		},
		{
			argv: ["drain", "n1", "--forc"],
			message: "unknown flag: --forc",
			hint: "Did you mean --force?\nSee 'kubectl xpdb drain --help' for usage.",
		},
		{
			argv: ["evict", "p", "--force"],
			message: "unknown flag: --force",
			hint: "Did you mean --for?\nSee 'kubectl xpdb evict --help' for usage.",
		},
		{
			argv: ["drain", "n1", "--timeout=abc"],
			message: 'invalid argument "abc" for "--timeout" flag: time: invalid duration "abc"',
			hint: "See 'kubectl xpdb drain --help' for usage.",
		},
	];
	for (const { argv, message, hint } of wrong) {
		test(`${argv.join(" ")}: ${message}`, async () => {
			await expect(parseCommandLine(argv)).rejects.toMatchObject({ name: "UsageError", message, hint });
		});
	}

	for (const argv of [[], ["--help"], ["-h"], ["help"]]) {
		test(`"${argv.join(" ")}" shows all commands in groups, on one screen`, async () => {
			const parsed = await parseCommandLine(argv);
			const lines = (parsed.kind === "help" ? parsed.text : "").split("\n");
			expect(lines.length).toBeLessThanOrEqual(23);
			expect(lines.filter((line) => line.length > 80)).toEqual([]);
			const titles = ["Nodes", "Budgets", "Fleet", "Plugin"];
			expect(lines.map((line) => line.slice(0, 9).trim()).filter((title) => titles.includes(title))).toEqual(titles);
			const named = lines.slice(2, -2).map((line) => line.slice(9).split(" ")[0] ?? "");
			const own = commands.map(({ name }) => name).filter((name) => !name.includes(" "));
			expect(new Set(named)).toEqual(new Set(own));
			expect(lines.join("\n")).not.toContain("Others");
		});
	}

	test("a command of two words has a help of its own", async () => {
		for (const argv of [
			["leases", "release", "-h"],
			["help", "leases", "release"],
		]) {
			const parsed = await parseCommandLine(argv);
			expect(parsed.kind === "help" ? parsed.text : "").toMatch(/^Release the hold of a stuck run/);
		}
	});

	for (const { name, describe: what } of commands.filter((each) => each.name.includes(" "))) {
		const [parent = "", word = ""] = name.split(" ");
		test(`"${name}" is in the help of "${parent}", as kubectl lists subcommands`, async () => {
			const parsed = await parseCommandLine([parent, "--help"]);
			const text = parsed.kind === "help" ? parsed.text : "";
			expect(text).toContain(`\nAvailable Commands:\n  ${word}  ${what}\n\n`);
			expect(text).toContain(`\nUse "kubectl xpdb ${parent} COMMAND --help" for `);
		});
	}

	test.each([
		{ command: "explain", shown: ["contexts=LIST", "namespace=TEXT"] },
		{ command: "drain", shown: ["contexts=LIST"] },
		{ command: "completion", shown: [] },
	])("the help of $command lists the global flags that it uses: $shown", async ({ command, shown }) => {
		const parsed = await parseCommandLine([command, "--help"]);
		const text = parsed.kind === "help" ? parsed.text : "";
		expect(["contexts=LIST", "namespace=TEXT"].filter((flag) => text.includes(`--${flag}\n`))).toEqual(shown);
		expect(text.includes("\nFlags:\n")).toBe(shown.length > 0);
	});

	test("what is no flag of every command is none of kubectl xpdb alone", async () => {
		await expect(parseCommandLine(["--force"])).rejects.toMatchObject({ message: "unknown flag: --force" });
		await expect(parseCommandLine(["options", "--force"])).rejects.toMatchObject({ message: "unknown flag: --force" });
	});

	for (const argv of [
		["drain", "--help"],
		["drain", "-h"],
		["help", "drain"],
		["drain", "n1", "--force", "--help"],
	]) {
		test(`"${argv.join(" ")}" shows the command`, async () => {
			const parsed = await parseCommandLine(argv);
			expect(parsed.kind === "help" ? parsed.text : "").toMatch(
				/^Drain nodes[\s\S]*Examples:[\s\S]*--ignore-daemonsets/,
			);
		});
	}

	for (const argv of [[], ["options"], ...commands.map(({ name }) => [...name.split(" "), "--help"])]) {
		test(`"${argv.join(" ")}" fits 80 columns`, async () => {
			const parsed = await parseCommandLine(argv);
			const lines = parsed.kind === "help" ? parsed.text.split("\n") : [];
			expect(lines.length).toBeGreaterThan(5);
			expect(lines.filter((line) => line.length > 80)).toEqual([]);
		});
	}
});
