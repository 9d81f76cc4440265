import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commands } from "../../../plugin/command-table.ts";
import type { Flag, FlagTable } from "../../../plugin/flags/flag.ts";
import { globalFlags } from "../../../plugin/flags/global-flags.ts";
import { flagsWithoutNextWord, loadKeptScript } from "../../../plugin/kubernetes/kept-script.ts";

describe("loadKeptScript()", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "xpdb-kept-"));
		writeFileSync(join(folder, "main-A1.cjs"), '(function (name) { return "hello " + name; })');
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	function call(
		argv: readonly string[],
		place: { keptIn: string | undefined } = { keptIn: folder },
	): { said: unknown; kept: boolean } {
		const ends: (() => void)[] = [];
		const atEnd = (write: () => void): void => void ends.push(write);
		const program = loadKeptScript({ path: join(folder, "main-A1.cjs"), folder: place.keptIn, argv, atEnd });
		if (typeof program !== "function") throw new Error("no program");
		const said: unknown = program("you");
		for (const end of ends) end();
		return { said, kept: ends.length > 0 };
	}

	const keptFile = (): string => {
		const [name = "", ...more] = readdirSync(folder).filter((file) => file !== "main-A1.cjs");
		expect(more).toEqual([]);
		expect(name).toBe(`main-A1-${process.version}-${process.arch}`);
		return join(folder, name);
	};

	test("learns from the first three calls of each kind", () => {
		const seen = [
			["evict", "a"],
			["evict", "b"],
			["evict", "--help"],
			["evict", "c"],
			["evict", "d"],
			["drain", "n"],
		];
		expect(seen.map((argv) => call(argv).kept)).toEqual([true, true, true, true, false, true]);
		expect(readFileSync(keptFile(), "latin1")).toContain('"learned":{"evict":3,"evict --help":1,"drain":1}');
	});

	const kinds: readonly { readonly name: string; readonly argv: readonly string[]; readonly kind: string }[] = [
		{
			name: "no value, which may be a secret",
			argv: ["--token", "sesame", "evict", "a", "--password=sesame", "-nsesame"],
			kind: "--password --token -n",
		},
		{
			name: "no value that looks like a flag",
			argv: ["evict", "--token", "--sesame", "a", "-l", "-sesame", "b", "-yl", "-x"],
			kind: "evict --token -l -y",
		},
		{
			name: "flags after those that take no value",
			argv: ["drain", "n", "--yes", "--dry-run", "--force", "--timeout=5s", "-h"],
			kind: "drain --dry-run --force --timeout --yes -h",
		},
		{ name: 'nothing after "--"', argv: ["evict", "-y", "--", "--sesame"], kind: "evict -y" },
	];
	for (const { name, argv, kind } of kinds) {
		test(`remembers ${name}`, () => {
			call(argv);
			expect(readFileSync(keptFile(), "latin1")).toContain(`"learned":{"${kind}":1}`);
			expect(readFileSync(keptFile(), "latin1")).not.toContain("sesame");
		});
	}

	test("knows which flags take no word", () => {
		const help: FlagTable = { help: { kind: "boolean", short: "h", describe: "" } };
		const flags = [globalFlags, help, ...commands.map((command) => command.flags)].flatMap(Object.entries<Flag>);
		const names = flags.flatMap(([name, { kind, bare, short }]) =>
			kind === "boolean" || bare !== undefined ? [`--${name}`, ...(short ? [`-${short}`] : [])] : [],
		);
		expect([...flagsWithoutNextWord].toSorted()).toEqual([...new Set(names)].toSorted());
	});

	const damages: readonly { readonly name: string; readonly damage: (content: Buffer) => Buffer }[] = [
		{ name: "one bit", damage: (content) => Buffer.from(content.map((byte, at) => (at === 100 ? byte ^ 1 : byte))) },
		{ name: "an end that is missing", damage: (content) => content.subarray(0, -40) },
		{ name: "nothing in it", damage: () => Buffer.alloc(0) },
	];
	for (const { name, damage } of damages) {
		test(`kept code with ${name} is never given to V8, which would crash`, () => {
			for (let calls = 0; calls < 3; calls += 1) call(["evict"]);
			writeFileSync(keptFile(), damage(readFileSync(keptFile())));
			expect(call(["evict"])).toEqual({ said: "hello you", kept: true });
			expect(readFileSync(keptFile(), "latin1")).toContain('"learned":{"evict":1}');
		});
	}

	test.skipIf(process.platform === "win32")("code that others may have written is never given to V8", () => {
		call(["evict"]);
		chmodSync(keptFile(), 0o620);
		expect(call(["evict"])).toEqual({ said: "hello you", kept: true });
		// The code is learned again, into a file that only the user can access.
		expect(readFileSync(keptFile(), "latin1")).toContain('"learned":{"evict":1}');
		expect(statSync(keptFile()).mode & 0o777).toBe(0o600);
	});

	test("does without a folder, and with one that cannot be written to", () => {
		expect(call(["evict"], { keptIn: undefined })).toEqual({ said: "hello you", kept: false });
		expect(call(["evict"], { keptIn: "/proc/nowhere" })).toEqual({ said: "hello you", kept: true });
		expect(readdirSync(folder)).toEqual(["main-A1.cjs"]);
	});
});
