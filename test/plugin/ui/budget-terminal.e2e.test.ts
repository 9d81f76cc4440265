// Tests the screen of `budgets -w` on a real terminal. The clusters never answer, so the screen does not change.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../../scripts/bundle.ts";
import { type PseudoTerminal, type PseudoTerminalOptions, startInTerminal } from "../../support/pseudo-terminal.ts";

const ctrl = { c: "\u0003", z: "\u001a" } as const;
const escapeCharacter = "\u001b";
const asking = "asking the agents of all members";

describe.concurrent("the screen of budgets, on a real terminal", { timeout: 120_000 }, () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-terminal-"));
	const plugin = join(folder, "kubectl-xpdb.js");
	beforeAll(() => bundle({ folder, failPoints: false }), 120_000);
	afterAll(() => rmSync(folder, { recursive: true }));

	/** Returns the command's words for API servers that accept connections but never answer. `called` resolves at the first connection. */
	async function silentFleet() {
		const callers = new Set<Socket>();
		const silent = createServer((socket) => {
			callers.add(socket);
			socket.on("error", () => undefined);
		});
		const called = once(silent, "connection");
		silent.listen(0, "127.0.0.1");
		await once(silent, "listening");
		const { port } = silent.address() as AddressInfo;
		const kubeconfig = join(folder, `kubeconfig-${port}`);
		writeFileSync(
			kubeconfig,
			JSON.stringify({
				apiVersion: "v1",
				kind: "Config",
				clusters: [{ name: "silent", cluster: { server: `https://127.0.0.1:${port}` } }],
				users: [{ name: "someone", user: { token: "a-token" } }],
				contexts: ["eu", "us"].map((name) => ({ name, context: { cluster: "silent", user: "someone" } })),
			}),
		);
		return {
			words: [process.execPath, plugin, "budgets", "-w", "--contexts=eu,us", `--kubeconfig=${kubeconfig}`] as const,
			called,
			[Symbol.dispose]() {
				silent.close();
				for (const caller of callers) caller.destroy();
			},
		};
	}
	type SilentFleet = Awaited<ReturnType<typeof silentFleet>>;

	const watch = ({ words: [node, ...words] }: SilentFleet, options: PseudoTerminalOptions = {}, ...more: string[]) =>
		startInTerminal(node, [...words, ...more], options);
	/** Runs `line` in a shell that prints the exit code. WATCH stands for the command. */
	const shell = ({ words }: SilentFleet, line: string, options: PseudoTerminalOptions = {}) => {
		const command = words.map((word) => `'${word}'`).join(" ");
		// The shell also gets the terminal's Ctrl-C, and must survive it to print the code. A reader in `line` needs a trap of its own.
		const script = `trap : INT; ${line.replace("WATCH", command)}; echo "code \${PIPESTATUS[0]}"`;
		return startInTerminal("bash", ["-c", script], options);
	};

	async function expectFrame(terminal: PseudoTerminal): Promise<void> {
		const { screen } = terminal;
		await terminal.until(
			() =>
				screen.lines.length === screen.rows - 1 &&
				screen.lines.at(-1)?.endsWith("? help") === true &&
				screen.lines.every((line) => line.length <= screen.columns),
		);
		expect(screen.isAlternate).toBe(true);
	}

	function expectRestored({ screen }: PseudoTerminal): void {
		expect(screen.isAlternate).toBe(false);
		expect([...screen.modes]).toEqual(["25"]);
	}

	test("is there for leases -w as well, before there is an answer; q leaves with 0, Ctrl-C with 130", async () => {
		for (const [key, code] of [
			["q", 0],
			[ctrl.c, 130],
		] as const) {
			using fleet = await silentFleet();
			const [node, , , ...rest] = fleet.words;
			using terminal = startInTerminal(node, [plugin, "leases", ...rest]);
			await terminal.shows("asking the agents ...");
			await expectFrame(terminal);
			terminal.press(key);
			expect((await terminal.ended).exitCode).toBe(code);
			expectRestored(terminal);
		}
	});

	test("fits whatever the terminal becomes, from 60 to 200 columns", async () => {
		using fleet = await silentFleet();
		using terminal = watch(fleet, { columns: 140, rows: 40 });
		await terminal.shows(asking);
		for (const [columns, rows] of [
			[60, 15],
			[100, 30],
			[200, 50],
			[80, 24],
		] as const) {
			terminal.resize(columns, rows);
			await expectFrame(terminal);
		}
		terminal.resize(40, 10);
		await terminal.until(() => terminal.screen.lines.join("\n").includes("q: leave, or a larger terminal"));
		terminal.resize(80, 24);
		await expectFrame(terminal);
		terminal.press("?");
		await terminal.shows("HELP");
		await expectFrame(terminal);
		terminal.press("q");
		expect((await terminal.ended).exitCode).toBe(0);
		expectRestored(terminal);
	});

	test.each([
		["Ctrl-C", (terminal: PseudoTerminal) => terminal.press(ctrl.c), 130],
		["SIGINT", (terminal: PseudoTerminal) => terminal.kill("SIGINT"), 130],
		["SIGTERM", (terminal: PseudoTerminal) => terminal.kill("SIGTERM"), 143],
		["SIGHUP", (terminal: PseudoTerminal) => terminal.kill("SIGHUP"), 143],
	] as const)("is closed at %s, though nobody has answered", async (_, end, exitCode) => {
		using fleet = await silentFleet();
		using terminal = watch(fleet);
		await terminal.shows(asking);
		end(terminal);
		expect((await terminal.ended).exitCode).toBe(exitCode);
		expectRestored(terminal);
	});

	test("ends when its terminal goes away", async () => {
		using fleet = await silentFleet();
		using terminal = watch(fleet);
		await terminal.shows(asking);
		terminal.hangUp();
		expect((await terminal.ended).exitCode).toBe(143);
	});

	test("stops and comes back as a job of the shell, which has what is typed when the screen is gone", async () => {
		using fleet = await silentFleet();
		using terminal = startInTerminal("bash", ["--norc", "--noprofile", "-i"], { env: { PS1: "$ " } });
		terminal.press(`${fleet.words.map((word) => `'${word}'`).join(" ")}\r`);
		await terminal.shows(asking);
		terminal.press(ctrl.z);
		await terminal.shows("Stopped");
		expect(terminal.screen.isAlternate).toBe(false);
		terminal.press("fg\r");
		await terminal.until(() => terminal.screen.isAlternate);
		await terminal.shows(asking);
		await expectFrame(terminal);
		terminal.press(ctrl.c);
		await terminal.until(() => !terminal.screen.isAlternate);
		terminal.press("echo code $?\r");
		await terminal.shows("code 130");
	});

	test("has no colour with NO_COLOR, and only ASCII where there is no more", async () => {
		using fleet = await silentFleet();
		using plain = watch(fleet, { env: { NO_COLOR: "1", LANG: "C" } });
		await plain.shows(asking);
		expect(plain.screen.styles).toBe(0);
		expect(plain.screen.lines.join("\n")).toMatch(/^[\n\x20-\x7e]*$/);
		using coloured = watch(fleet, { env: { NO_COLOR: "1", FORCE_COLOR: "1" } });
		await coloured.shows(asking);
		expect(coloured.screen.styles).toBeGreaterThan(0);
	});

	const withScreen: readonly {
		readonly name: string;
		readonly env?: Record<string, string>;
		readonly flag?: string;
	}[] = [
		{ name: "--ui=auto", flag: "--ui=auto", env: { XPDB_UI: "plain" } },
		{ name: "--ui=full", flag: "--ui=full", env: { XPDB_UI: "none" } },
		{ name: "XPDB_UI=full", env: { XPDB_UI: "full" } },
	];
	test.each(withScreen)("is there with $name", async ({ env = {}, flag }) => {
		using fleet = await silentFleet();
		using terminal = watch(fleet, { env }, ...(flag === undefined ? [] : [flag]));
		await terminal.shows(asking);
		await expectFrame(terminal);
		terminal.press("q");
		expect((await terminal.ended).exitCode).toBe(0);
		expectRestored(terminal);
	});

	type Start = (fleet: SilentFleet) => PseudoTerminal;
	const withoutScreen: readonly { readonly name: string; readonly start: Start }[] = [
		{ name: "--ui=plain", start: (fleet) => shell(fleet, "WATCH --ui=plain") },
		{ name: "--ui=none", start: (fleet) => shell(fleet, "WATCH --ui=none") },
		{ name: "XPDB_UI=plain", start: (fleet) => shell(fleet, "XPDB_UI=plain WATCH") },
		{ name: "XPDB_UI=none", start: (fleet) => shell(fleet, "XPDB_UI=none WATCH") },
		{ name: "TERM=dumb", start: (fleet) => shell(fleet, "WATCH", { env: { TERM: "dumb" } }) },
		{ name: "a screen reader", start: (fleet) => shell(fleet, "XPDB_ACCESSIBLE=1 WATCH") },
		{ name: "a terminal that is too narrow", start: (fleet) => shell(fleet, "WATCH", { columns: 59 }) },
		{ name: "a terminal that is too low", start: (fleet) => shell(fleet, "WATCH", { rows: 14 }) },
		{ name: "no input", start: (fleet) => shell(fleet, "WATCH < /dev/null") },
		{ name: "a closed input", start: (fleet) => shell(fleet, "WATCH <&-") },
		{ name: "a pipe behind it", start: (fleet) => shell(fleet, "WATCH | (trap '' INT; cat)") },
		{
			name: "a pipe for stderr alone",
			start: (fleet) => shell(fleet, "exec 3>&1; WATCH 2>&1 >&3 | (trap '' INT; cat)"),
		},
	];
	test.each(withoutScreen)("gives way to rows with $name", async ({ start }) => {
		using fleet = await silentFleet();
		using terminal = start(fleet);
		// The plugin already calls the cluster. A screen would have appeared earlier.
		await fleet.called;
		terminal.press(ctrl.c);
		await terminal.shows("code 130");
		expect(terminal.output()).not.toContain(escapeCharacter);
	});

	test("says why there is none where somebody asked for it", async () => {
		using fleet = await silentFleet();
		using terminal = shell(fleet, "WATCH --ui=full < /dev/null");
		await terminal.shows("Warning: no full screen: the input or the output is no terminal");
		terminal.press(ctrl.c);
		await terminal.shows("code 130");
		expect(terminal.output()).not.toContain(escapeCharacter);
	});
});
