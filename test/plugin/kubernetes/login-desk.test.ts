import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../../../scripts/repository-root.ts";
import type { ExecCredential, LoginRunner } from "../../../plugin/kubernetes/exec-credentials.ts";
import type { ExecPlugin } from "../../../plugin/kubernetes/exec-plugin.ts";
import { LoginDesk } from "../../../plugin/kubernetes/login-desk.ts";
import { startInTerminal } from "../../support/pseudo-terminal.ts";
import { createScratchFolder } from "./scratch-folder.ts";

const { folder, write } = createScratchFolder("login-desk");

function login(rest: Partial<ExecPlugin> = {}): ExecPlugin {
	return {
		command: "login",
		args: [],
		env: {},
		apiVersion: "client.authentication.k8s.io/v1",
		interactiveMode: "IfAvailable",
		installHint: "",
		cluster: undefined,
		...rest,
	};
}

interface Played {
	readonly desk: LoginDesk;
	readonly runs: string[];
	readonly announced: (readonly string[])[];
	/** "" for a login that gave a credential. Otherwise, the reason. */
	readonly ended: string[];
	readonly most: () => number;
}

/** Each login takes a turn of the event loop. */
function play(mayAsk: boolean, expiresAt?: number): Played {
	const runs: string[] = [];
	const announced: (readonly string[])[] = [];
	const ended: string[] = [];
	const announce = (contexts: readonly string[]) => {
		announced.push(contexts);
		return (problem?: string) => void ended.push(problem ?? "");
	};
	let [now, most] = [0, 0];
	const runner: LoginRunner = {
		mayAsk: () => mayAsk,
		async run({ args }): Promise<ExecCredential> {
			runs.push(args.join(" "));
			now += 1;
			most = Math.max(most, now);
			await new Promise(setImmediate);
			now -= 1;
			if (args.includes("broken")) throw new Error("no");
			return { token: `${args.join(" ")}-${runs.length}`, cert: "", key: "", expiresAt };
		},
	};
	return {
		desk: new LoginDesk({ announce, runner }),
		runs,
		announced,
		ended,
		most: () => most,
	};
}

describe("LoginDesk", () => {
	test("the same login runs once, and says for which contexts", async () => {
		const { desk, runs, announced } = play(true);
		const all = ["eu", "us", "ap"].map((context) => desk.open(login({ args: ["a"] }), context));
		const given = await Promise.all(all.map((each) => each.current()));
		expect(given.map(({ token }) => token)).toEqual(["a-1", "a-1", "a-1"]);
		expect(runs).toEqual(["a"]);
		expect(announced).toEqual([["eu", "us", "ap"]]);
	});

	const others: readonly Partial<ExecPlugin>[] = [
		{ command: "other" },
		{ args: ["b"] },
		{ env: { A: "b" } },
		{ cluster: { server: "https://us" } },
	];
	for (const other of others) {
		test(`another one with ${Object.keys(other).join()} is another login, and waits for the first`, async () => {
			const { desk, runs, announced, most } = play(true);
			const both = [desk.open(login(), "eu"), desk.open(login(other), "us")];
			await Promise.all(both.map((each) => each.current()));
			expect(runs).toHaveLength(2);
			expect(announced).toEqual([["eu"], ["us"]]);
			expect(most()).toBe(1);
		});
	}

	test("those that ask nobody run side by side, and say nothing", async () => {
		const { desk, announced, most } = play(false);
		const both = [desk.open(login({ args: ["a"] }), "eu"), desk.open(login({ args: ["b"] }), "us")];
		await Promise.all(both.map((each) => each.current()));
		expect(most()).toBe(2);
		expect(announced).toEqual([]);
	});

	test("one that fails fails for all that wait, and lets the next one run", async () => {
		const { desk, runs } = play(true);
		const broken = ["eu", "us"].map((context) => desk.open(login({ args: ["broken"] }), context));
		const next = desk.open(login({ args: ["next"] }), "ap");
		const results = await Promise.allSettled([...broken, next].map((each) => each.current()));
		expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
		expect(runs).toEqual(["broken", "next"]);
	});

	test("a credential that a server refused is not given again, the one that follows it is", async () => {
		const { desk, runs } = play(true);
		const [eu, us] = [desk.open(login(), "eu"), desk.open(login(), "us")];
		const [first] = await Promise.all([eu.current(), us.current()]);
		eu.forget();
		const second = await eu.current();
		expect(second).not.toBe(first);
		us.forget();
		expect(await us.current()).toBe(second);
		expect(runs).toHaveLength(2);
	});

	test("whoever was told that one begins is told how it ended", async () => {
		const { desk, ended } = play(true);
		await desk.open(login(), "eu").current();
		await expect(desk.open(login({ args: ["broken"] }), "us").current()).rejects.toThrow("no");
		expect(ended).toEqual(["", "no"]);
		const quiet = play(false);
		await quiet.desk.open(login(), "eu").current();
		expect(quiet.ended).toEqual([]);
	});

	test("whoever stops the run while one asks is not asked by the next one", async () => {
		const stop = new AbortController();
		const runs: string[] = [];
		const runner: LoginRunner = {
			mayAsk: () => true,
			async run({ args }, surroundings): Promise<ExecCredential> {
				runs.push(args.join(" "));
				stop.abort();
				surroundings.stop.throwIfAborted();
				throw new Error("it was not stopped");
			},
		};
		const desk = new LoginDesk({ runner, surroundings: { complain: () => undefined, stop: stop.signal } });
		const both = ["a", "b"].map((arg) => desk.open(login({ args: [arg] }), arg).current());
		const results = await Promise.allSettled(both);
		expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
		expect(String(results[1]?.status === "rejected" && results[1].reason)).toContain("the run was stopped");
		expect(runs).toEqual(["a"]);
	});

	test("one that is over is asked for again", async () => {
		const { desk, runs } = play(true, Date.now() - 1);
		const eu = desk.open(login(), "eu");
		await eu.current();
		await eu.current();
		expect(runs).toHaveLength(2);
	});
});

describe("logins on a terminal", () => {
	const answer =
		'{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}';
	const script = write("login.sh", `printf "Password for %s: " "$1" >&2; read -r word; echo '${answer}'`);
	const user = (name: string): string =>
		`{name: ${name}, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [${script}, ${name}], interactiveMode: IfAvailable}}}`;
	const context = (name: string, of: string): string => `{name: ${name}, context: {cluster: one, user: ${of}}}`;
	const kubeconfig = write(
		"kubeconfig",
		`clusters: [{name: one, cluster: {server: "https://127.0.0.1:1"}}]
users: [${user("sso")}, ${user("other")}]
contexts: [${context("eu", "sso")}, ${context("us", "sso")}, ${context("ap", "other")}]`,
	);
	const plugin = join(repositoryRoot, "plugin", "main.ts");
	const start = (...words: readonly string[]) =>
		startInTerminal(process.execPath, [plugin, ...words, "--request-timeout=5s", `--kubeconfig=${kubeconfig}`], {
			env: { HOME: folder },
		});

	test("two of three contexts ask one after the other", async () => {
		using terminal = start("version", "--contexts=eu,us,ap");
		await terminal.shows("Password for sso:");
		expect(terminal.output()).toContain('logging in to contexts "eu", "us" with sh');
		expect(terminal.output()).not.toContain("Password for other");
		terminal.press("one\r");
		await terminal.shows("Password for other:");
		terminal.press("two\r");
		await terminal.ended;
		expect(terminal.output().match(/Password for sso/g)).toHaveLength(1);
	});

	test("are events of a run with -o json, which come when the terminal is free again", async () => {
		using terminal = start("cordon", "n1", "--context=eu", "-o", "json");
		await terminal.shows("Password for sso:");
		terminal.press("one\r");
		await terminal.ended;
		const events = terminal
			.output()
			.split(/\r?\n/)
			.filter((line) => line.startsWith("{"))
			.map((line): unknown => JSON.parse(line));
		const named = { contexts: ["eu"], command: "sh" };
		expect(events.slice(1, 3)).toEqual([
			expect.objectContaining({ type: "login.started", ...named }),
			expect.objectContaining({ type: "login.ended", ...named, ms: expect.any(Number) as unknown }),
		]);
	});
});
