import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { demonstrate } from "../../demo/demonstration.ts";
import { Narrator } from "../../demo/narrator.ts";
import { PluginRuns } from "../../demo/plugin-run.ts";

/** Prints its PATH and its process ID, and runs until it is killed if it has an argument. */
const program = `
console.log("PATH " + process.env.PATH);
console.log("PID " + process.pid);
if (process.argv.length > 2) setInterval(() => undefined, 1_000);
`;

let dir = "";
let lines: string[] = [];
let seen = Promise.withResolvers<void>();

beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), "xpdb-plugin-run-"));
	writeFileSync(join(dir, "plugin.js"), program);
	lines = [];
	seen = Promise.withResolvers();
});
afterEach(() => rmSync(dir, { recursive: true }));

function callWith(signal: AbortSignal, ...args: readonly string[]) {
	const quote = (line: string): void => {
		lines.push(line);
		if (line.startsWith("PID ")) seen.resolve();
	};
	return { plugin: join(dir, "plugin.js"), args, dir, kubeconfig: "", signal, narrator: { quote }, hasTerminal: false };
}

const never = new AbortController().signal;

describe("PluginRuns", () => {
	test("run() puts the folder with the plugin first on its PATH", async () => {
		expect(await new PluginRuns().run(callWith(never))).toBe(0);
		const [first = ""] = lines[0]?.slice("PATH ".length).split(delimiter) ?? [];
		expect(first).toBe(join(dir, "bin"));
		expect(existsSync(join(first, "kubectl-xpdb"))).toBe(true);
	});

	test("run() starts nothing if its signal has aborted before", async () => {
		const reason = new Error("interrupted");
		await expect(new PluginRuns().run(callWith(AbortSignal.abort(reason), "on"))).rejects.toBe(reason);
		expect(lines).toEqual([]);
	});

	test("end() kills a run that goes on, and waits until its process is gone", async () => {
		const runs = new PluginRuns();
		const code = runs.run(callWith(never, "on"));
		await seen.promise;
		await runs.end();
		expect(() => process.kill(Number(lines.at(-1)?.slice("PID ".length)), 0)).toThrow("ESRCH");
		expect(await code).toBe(1);
	});
});

test("demonstrate() starts nothing if its signal has aborted before", async () => {
	const reason = new Error("interrupted");
	const stream = new PassThrough();
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it only writes
	const narrator = new Narrator(stream as unknown as NodeJS.WriteStream, () => undefined);
	const story = demonstrate({
		narrator,
		dir,
		port: 0,
		keep: false,
		hasTerminal: false,
		signal: AbortSignal.abort(reason),
		onStopped: () => undefined,
	});
	await expect(story).rejects.toBe(reason);
	expect(stream.read()).toBeNull();
});
