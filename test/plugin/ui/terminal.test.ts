import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../../scripts/bundle.ts";
import { startTestCluster, type TestCluster } from "../../kubernetes/test-cluster.ts";
import { type PseudoTerminal, type PseudoTerminalOptions, startInTerminal } from "../../support/pseudo-terminal.ts";
import { fillStuckNodes, freeNodes, podNames, stuckNodes } from "./stuck-nodes.ts";

const ctrl = { c: "\u0003", z: "\u001a", l: "\u000c" } as const;
const escapeCharacter = "\u001b";

// Each of two nodes has a pod that may not go, because the cluster's own budget is used up.
describe("the screen of a drain, on a real terminal", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-terminal-"));
	const plugin = join(folder, "kubectl-xpdb.js");
	let cluster: TestCluster;
	beforeAll(async () => {
		[cluster] = await Promise.all([startTestCluster({ nodes: 2 }), bundle({ folder, failPoints: false })]);
		await fillStuckNodes(cluster);
	});
	afterAll(async () => {
		await cluster.stop();
		rmSync(folder, { recursive: true });
	});

	const args = (...more: readonly string[]): readonly string[] => [
		plugin,
		"drain",
		...stuckNodes,
		"--force",
		`--kubeconfig=${cluster.kubeconfig}`,
		...more,
	];
	const drain = (options: PseudoTerminalOptions = {}, ...more: readonly string[]): PseudoTerminal =>
		startInTerminal(process.execPath, args("--max-nodes=2", ...more), options);
	const evict = (options: PseudoTerminalOptions = {}): PseudoTerminal => {
		const words = [plugin, "evict", "web-0", "-n", "default", "-y", `--kubeconfig=${cluster.kubeconfig}`];
		return startInTerminal(process.execPath, words, options);
	};
	/** Starts a drain through a shell that redirects its streams. */
	const shell = (rest: string, options: PseudoTerminalOptions = {}): PseudoTerminal => {
		const words = [process.execPath, ...args()].map((word) => `'${word}'`).join(" ");
		return startInTerminal("sh", ["-c", rest.replace("DRAIN", words)], options);
	};

	function expectRestored({ screen }: PseudoTerminal): void {
		expect(screen.isAlternate).toBe(false);
		expect([...screen.modes]).toEqual(["25"]);
		const text = screen.lines.join("\n");
		expect(text).toContain("Warning: deleting Pods that declare no controller: default/web-0");
		expect(text).toMatch(/Stopped: 0 nodes drained, 2 not, 0 pods evicted/);
		expect(text).toContain("Continue:     kubectl xpdb drain --resume");
	}

	async function expectFrame(terminal: PseudoTerminal): Promise<void> {
		const { screen } = terminal;
		// Right after a resize, a terminal still shows the old frame.
		const isWhole = (): boolean =>
			screen.lines.length === screen.rows - 1 &&
			screen.lines.at(-1)?.endsWith("? help") === true &&
			screen.lines.every((line) => line.length <= screen.columns);
		await terminal.until(isWhole);
		expect(screen.isAlternate).toBe(true);
	}

	test("takes keys, and leaves all as it was at Ctrl-C, with what is left to read and 130", async () => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		await expectFrame(terminal);
		terminal.press("e");
		await terminal.shows("On node c1/c1-n0 a pod waits");
		await terminal.shows("kubectl get poddisruptionbudgets -n default --context c1");
		await expectFrame(terminal);
		terminal.press(escapeCharacter);
		await terminal.shows("EVENTS");
		terminal.press("y");
		await terminal.shows("node c1-n0 in c1, read at ");
		await terminal.shows("kind: Node");
		await expectFrame(terminal);
		terminal.press(escapeCharacter);
		await terminal.shows("EVENTS");
		terminal.press("p");
		await terminal.shows("PAUSED");
		terminal.press("p");
		await terminal.shows("resumed after");
		terminal.press("?");
		await terminal.shows("Ctrl-Z           to the shell");
		terminal.press(ctrl.c);
		expect(await terminal.ended).toEqual({ exitCode: 130, signal: 0 });
		expectRestored(terminal);
	});

	test("goes on in plain lines when it is left, and Ctrl-C is a signal again", async () => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		terminal.press("q");
		await terminal.shows("Left the view: the run goes on in plain lines");
		expect(terminal.screen.isAlternate).toBe(false);
		await terminal.shows("will retry after 5s");
		terminal.press(ctrl.c);
		expect((await terminal.ended).exitCode).toBe(130);
		expectRestored(terminal);
	});

	test.each([
		["SIGTERM", 143],
		["SIGINT", 130],
		["SIGHUP", 143],
	] as const)("is closed at %s, and the run ends with %d", async (signal, exitCode) => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		terminal.kill(signal);
		expect((await terminal.ended).exitCode).toBe(exitCode);
		expectRestored(terminal);
	});

	test("takes a Ctrl-C that comes at once with other keys", async () => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		terminal.press(`bj${ctrl.c}`);
		expect((await terminal.ended).exitCode).toBe(130);
		expectRestored(terminal);
	});

	test("takes a Ctrl-C that comes at once with the key that leaves, and nothing else that does", async () => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		terminal.press(`qp${ctrl.c}`);
		expect((await terminal.ended).exitCode).toBe(130);
		expectRestored(terminal);
		expect(terminal.screen.lines.join("\n")).not.toMatch(/paused/i);
	});

	test.each([
		["on its screen", []],
		["in plain lines, after it", ["q"]],
	] as const)("stops when its terminal goes away, as at one Ctrl-C: %s", async (_, keys) => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		for (const key of keys) {
			terminal.press(key);
			await terminal.shows("Left the view");
		}
		terminal.hangUp();
		expect((await terminal.ended).exitCode).toBe(143);
		expect(await podNames(cluster)).toHaveLength(2);
	});

	test("is drawn on stderr while the results go into a file", async () => {
		const file = join(folder, "run.ndjson");
		using terminal = shell(`DRAIN --max-nodes=2 -o json > '${file}'`);
		await terminal.shows("WAITING 2");
		await expectFrame(terminal);
		terminal.press(ctrl.c);
		expect((await terminal.ended).exitCode).toBe(130);
		expectRestored(terminal);
		expect(terminal.screen.lines.join("\n")).not.toContain('{"type"');
		const events = readFileSync(file, "utf8").trim().split("\n");
		const types = events.map((line) => (JSON.parse(line) as { readonly type: string }).type);
		expect([types[0], types.at(-1)]).toEqual(["version", "summary"]);
	});

	test("stops and comes back as a job of the shell", async () => {
		using terminal = startInTerminal("bash", ["--norc", "--noprofile", "-i"], { env: { PS1: "$ " } });
		terminal.press(`${[process.execPath, ...args("--max-nodes=2")].map((word) => `'${word}'`).join(" ")}\r`);
		await terminal.shows("WAITING 2");
		terminal.press(ctrl.z);
		await terminal.shows("Stopped");
		expect(terminal.screen.isAlternate).toBe(false);
		terminal.press("echo in the shell again\r");
		await terminal.shows(/^in the shell again/m);
		terminal.press("fg\r");
		await terminal.until(() => terminal.screen.isAlternate);
		await terminal.shows("WAITING 2");
		await expectFrame(terminal);
		terminal.press(ctrl.c);
		await terminal.until(() => !terminal.screen.isAlternate);
		await terminal.shows("Continue:");
		terminal.press("echo code $?\r");
		await terminal.shows("code 130");
	});

	test("fits whatever the terminal becomes", async () => {
		using terminal = drain({ columns: 140, rows: 40 });
		await terminal.shows("WAITING 2");
		await expectFrame(terminal);
		for (const [columns, rows] of [
			[60, 15],
			[100, 30],
			[80, 24],
			[200, 50],
		] as const) {
			terminal.resize(columns, rows);
			await expectFrame(terminal);
		}
		terminal.resize(40, 10);
		await terminal.shows("q: plain lines, or a larger terminal");
		expect(terminal.screen.lines.length).toBeLessThan(10);
		terminal.resize(100, 30);
		await terminal.shows("WAITING 2");
		await expectFrame(terminal);
	});

	test("has no colour with NO_COLOR, and only ASCII where there is no more", async () => {
		using plain = drain({ env: { NO_COLOR: "1", LANG: "C" } });
		await plain.shows("WAITING 2");
		expect(plain.screen.styles).toBe(0);
		expect(plain.screen.lines.join("\n")).toMatch(/^[\n\x20-\x7e]*$/);
		using coloured = drain({ env: { NO_COLOR: "1", FORCE_COLOR: "1" } });
		await coloured.shows("WAITING 2");
		expect(coloured.screen.styles).toBeGreaterThan(0);
	});

	test("costs little over ssh: a second in which nothing happens is a few bytes, a key a few lines", async () => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		const [, firstFrame = ""] = terminal.output().split("\u001b[?1049h");
		expect(firstFrame.length).toBeLessThan(30 * 400);
		const clock = (): string => / (\d\d:\d\d)( |$)/.exec(terminal.screen.lines[0] ?? "")?.[1] ?? "";
		const from = clock();
		const before = terminal.output().length;
		await terminal.until(() => clock() !== from);
		const next = clock();
		await terminal.until(() => clock() !== next);
		expect((terminal.output().length - before) / 2).toBeLessThan(1_500);
	});

	const plainLines: readonly { readonly name: string; readonly start: () => PseudoTerminal }[] = [
		{ name: "--ui=plain", start: () => drain({}, "--ui=plain") },
		{ name: "--ui=none", start: () => drain({ env: { XPDB_UI: "full" } }, "--ui=none") },
		{ name: "XPDB_UI=plain", start: () => drain({ env: { XPDB_UI: "plain" } }) },
		{ name: "XPDB_UI=none", start: () => drain({ env: { XPDB_UI: "none" } }) },
		{ name: "TERM=dumb", start: () => drain({ env: { TERM: "dumb" } }) },
		{ name: "CI", start: () => drain({ env: { CI: "true" } }) },
		{ name: "a screen reader", start: () => drain({ env: { INK_SCREEN_READER: "true" } }) },
		{ name: "a terminal that is too narrow", start: () => drain({ columns: 59 }) },
		{ name: "a terminal that is too low", start: () => drain({ rows: 14 }) },
		{ name: "no input", start: () => shell("DRAIN < /dev/null") },
		{ name: "a closed input", start: () => shell("DRAIN <&-") },
		{ name: "no input, and --ui=full", start: () => shell("DRAIN --ui=full < /dev/null") },
		{ name: "a pipe behind it", start: () => shell("DRAIN | cat") },
		{ name: "a pipe for both streams", start: () => shell("DRAIN 2>&1 | cat") },
		{ name: "a pipe for stderr alone", start: () => shell("exec 3>&1; DRAIN 2>&1 >&3 | cat") },
		{ name: "one pod in one context", start: () => evict() },
		{
			name: "one node",
			start: () =>
				startInTerminal(
					process.execPath,
					args().filter((word) => word !== stuckNodes[1]),
				),
		},
	];
	test.each(plainLines)("gives way to plain lines with $name", async ({ start }) => {
		using terminal = start();
		await terminal.shows("evicting pod default/web-0");
		expect(terminal.output()).not.toContain(escapeCharacter);
		terminal.press(ctrl.c);
		expect((await terminal.ended).exitCode).not.toBe(1);
	});

	test("says why there is none where somebody asked for it", async () => {
		using terminal = shell("DRAIN --ui=full < /dev/null");
		await terminal.shows("Warning: no full screen: the input or the output is no terminal");
		terminal.press(ctrl.c);
		await terminal.ended;
		expect(terminal.output()).not.toContain(escapeCharacter);
	});

	const asked: readonly { readonly name: string; readonly start: () => PseudoTerminal }[] = [
		{
			name: "one node, with --ui=full",
			start: () =>
				startInTerminal(
					process.execPath,
					args("--ui=full").filter((word) => word !== stuckNodes[1]),
				),
		},
		{ name: "one pod, with XPDB_UI=full", start: () => evict({ env: { XPDB_UI: "full" } }) },
	];
	test.each(asked)("is drawn for $name: somebody asked for it", async ({ start }) => {
		using terminal = start();
		await terminal.shows("WAITING 1");
		await expectFrame(terminal);
		terminal.press(ctrl.c);
		expect((await terminal.ended).exitCode).toBe(130);
	});

	test("is not in the way of a reader that leaves", async () => {
		using terminal = shell("{ DRAIN; echo code $? >&2; } | head -1; echo over");
		await terminal.shows("over");
		await terminal.shows("code 2");
		expect(terminal.output()).not.toContain(escapeCharacter);
	});

	test("is followed by the summary when all is drained", async () => {
		using terminal = drain();
		await terminal.shows("WAITING 2");
		await freeNodes(cluster);
		expect((await terminal.ended).exitCode).toBe(0);
		expect(terminal.screen.isAlternate).toBe(false);
		expect(terminal.screen.lines.join("\n")).toContain("Done: 2 nodes drained, 0 not, 2 pods evicted");
		// What was done stays in the scrollback, as kubectl's lines would.
		for (const [index, node] of stuckNodes.entries()) {
			expect(terminal.screen.lines).toEqual(
				expect.arrayContaining([`node/${node} already cordoned`, `pod/web-${index} evicted`, `node/${node} drained`]),
			);
		}
		expect(await podNames(cluster)).toEqual([]);
	});

	/** Returns the contents of the plugin's files that this command loads. */
	async function loadedBy(...words: readonly string[]): Promise<string> {
		const list = join(folder, "loaded");
		const hook = `
			import { registerHooks } from "node:module";
			import { appendFileSync } from "node:fs";
			registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + "\\n"); return next(url, context); } });`;
		const hooks = `data:text/javascript,${encodeURIComponent(hook)}`;
		rmSync(list, { force: true });
		const child = spawn(process.execPath, ["--import", hooks, plugin, ...words], { stdio: "ignore" });
		await once(child, "close");
		const files = readFileSync(list, "utf8")
			.trim()
			.split("\n")
			.filter((url) => url.startsWith("file:"));
		expect(files.length).toBeGreaterThan(0);
		return files.map((url) => readFileSync(new URL(url), "utf8")).join("\n");
	}

	test("gives way to a line where no cluster has Leases to watch", async () => {
		const words = [plugin, "leases", "-w", `--kubeconfig=${cluster.kubeconfig}`];
		using terminal = startInTerminal(process.execPath, words);
		expect((await terminal.ended).exitCode).toBe(0);
		expect(terminal.screen.isAlternate).toBe(false);
		expect(terminal.screen.lines.join("\n")).toContain("c1: no xpdb agent in this cluster");
	});

	test("is loaded by no command that draws nothing: Ink and React are in none of their files", async () => {
		const react = /react\.transitional\.element/;
		for (const words of [
			["--help"],
			["version", "--client"],
			["plan", "c1-n0"],
			args("--ui=plain", "--dry-run=client").slice(1),
		]) {
			const kubeconfig = `--kubeconfig=${cluster.kubeconfig}`;
			expect(react.test(await loadedBy(...words, kubeconfig)), words.join(" ")).toBe(false);
		}
		const chunks = readdirSync(join(folder, "chunks")).filter((file) =>
			react.test(readFileSync(join(folder, "chunks", file), "utf8")),
		);
		expect(chunks).toEqual([expect.stringMatching(/^screens-/)]);
	});
});
