import { chmodSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecPlugin } from "../../../plugin/kubernetes/exec-plugin.ts";
import { type ExecCredentials, LoginDesk } from "../../../plugin/kubernetes/login-desk.ts";
import { createScratchFolder } from "./scratch-folder.ts";

const { folder, write } = createScratchFolder("exec");

const apiVersion = "client.authentication.k8s.io/v1";

function script(text: string, rest: Partial<ExecPlugin> = {}): ExecPlugin {
	return {
		command: "sh",
		args: ["-c", text],
		env: {},
		apiVersion,
		interactiveMode: "Never",
		installHint: "",
		cluster: undefined,
		...rest,
	};
}

/** The folder of a program that exists nowhere else. */
const programs = dirname(write(join("bin", "sh-of-its-own"), "#!/bin/sh\n"));
chmodSync(join(programs, "sh-of-its-own"), 0o755);

const credential = (status: object | undefined, version = apiVersion): string =>
	JSON.stringify({ kind: "ExecCredential", apiVersion: version, status });
const echo = (text: string): string => `cat <<'END'\n${text}\nEND`;

function createExecCredentials(plugin: ExecPlugin): ExecCredentials {
	return new LoginDesk().open(plugin, "eu");
}

describe("a login program", () => {
	test("tells the plugin what kubectl tells it, and takes what it gives", async () => {
		const seen = join(folder, "seen");
		const plugin = script(
			`printf '%s %s' "$GREETING" "$KUBERNETES_EXEC_INFO" > ${seen}; ${echo(credential({ token: "t" }))}`,
			{ env: { GREETING: "hello" }, cluster: { server: "https://one" } },
		);
		expect(await createExecCredentials(plugin).current()).toMatchObject({ token: "t", cert: "", key: "" });
		const [greeting, info = ""] = readFileSync(seen, "utf8").split(/ (.*)/s);
		expect(greeting).toBe("hello");
		expect(JSON.parse(info)).toEqual({
			kind: "ExecCredential",
			apiVersion,
			spec: { cluster: { server: "https://one" }, interactive: false },
		});
	});

	test("runs it once, and again when what it gave is over", async () => {
		for (const [expirationTimestamp, runs] of [
			["2999-01-01T00:00:00Z", 1],
			["2001-01-01T00:00:00Z", 2],
		] as const) {
			const count = write("count", "");
			const answer = credential({ clientCertificateData: "c", clientKeyData: "k", expirationTimestamp });
			const credentials = createExecCredentials(script(`echo >> ${count}; ${echo(answer)}`));
			expect(await credentials.current()).toMatchObject({ cert: "c", key: "k" });
			await credentials.current();
			expect(readFileSync(count, "utf8")).toHaveLength(runs);
		}
	});

	test("has ended before anybody else has the terminal, also where it is stopped", async () => {
		const pid = write("pid", "");
		const stop = new AbortController();
		const plugin = script(`trap 'sleep 0.3; exit 1' TERM; echo $$ > ${pid}; while :; do sleep 0.05; done`);
		const desk = new LoginDesk({ surroundings: { complain: () => undefined, stop: stop.signal } });
		const asking = desk.open(plugin, "eu").current();
		asking.catch(() => undefined);
		await expect.poll(() => readFileSync(pid, "utf8")).not.toBe("");
		stop.abort();
		await expect(asking).rejects.toThrow("getting credentials: exec: The operation was aborted");
		expect(() => process.kill(Number(readFileSync(pid, "utf8")), 0)).toThrow("ESRCH");
	});

	test("reads YAML, and JSON with a byte order mark", async () => {
		const yaml = `apiVersion: ${apiVersion}\nkind: ExecCredential\nstatus:\n  token: from-yaml`;
		expect(await createExecCredentials(script(echo(yaml))).current()).toMatchObject({ token: "from-yaml" });
		const marked = write("marked.json", `\uFEFF${credential({ token: "marked" })}`);
		expect(await createExecCredentials(script(`cat ${marked}`)).current()).toMatchObject({ token: "marked" });
		await expect(createExecCredentials(script("echo '{token: x}'")).current()).rejects.toThrow("neither JSON nor YAML");
	});

	test("looks the program up in our own PATH, whatever PATH it is given", async () => {
		const plugin = script(`PATH=/usr/bin:/bin; ${echo(credential({ token: "found" }))}`, { env: { PATH: "/nowhere" } });
		expect(await createExecCredentials(plugin).current()).toMatchObject({ token: "found" });
	});

	const failures: readonly { readonly plugin: ExecPlugin; readonly message: string }[] = [
		{ plugin: script("exit 3"), message: "exec: executable sh failed with exit code 3" },
		{ plugin: script("kill -9 $$"), message: "exec: executable sh failed with SIGKILL" },
		{
			plugin: script("", { command: "no-such-login", installHint: "Install it" }),
			message: "exec: executable no-such-login not found\n\nInstall it",
		},
		{ plugin: script("echo hello"), message: "decoding stdout of sh: it is not an ExecCredential" },
		{ plugin: script("true"), message: "decoding stdout of sh: it is not an ExecCredential" },
		{
			plugin: script(echo(credential({ token: 5 }))),
			message: "decoding stdout of sh: status.token is a number, not a string: put it in quotes",
		},
		{
			plugin: script(echo(credential({ token: "t", expirationTimestamp: "tomorrow" }))),
			message: 'decoding stdout of sh: status.expirationTimestamp "tomorrow" is not a time',
		},
		{
			plugin: script(echo(JSON.stringify({ kind: "Pod", apiVersion, status: { token: "t" } }))),
			message: 'decoding stdout of sh: its kind is "Pod", not "ExecCredential"',
		},
		{
			plugin: script("", { command: "sh-of-its-own", env: { PATH: programs } }),
			message: "exec: executable sh-of-its-own not found",
		},
		{
			plugin: script(echo(credential({ token: "t" }, "client.authentication.k8s.io/v1beta1"))),
			message: `exec plugin is configured to use API version ${apiVersion}, plugin returned version client.authentication.k8s.io/v1beta1`,
		},
		{ plugin: script(echo(credential(undefined))), message: "exec plugin didn't return a status field" },
		{ plugin: script(echo(credential({}))), message: "exec plugin didn't return a token or cert/key pair" },
		{
			plugin: script(echo(credential({ clientKeyData: "k" }))),
			message: "exec plugin returned only certificate or key, not both",
		},
	];
	for (const { plugin, message } of failures) {
		test(`fails: ${message}`, async () => {
			await expect(createExecCredentials(plugin).current()).rejects.toThrow(
				expect.objectContaining({ message: `getting credentials: ${message}` }),
			);
		});
	}

	test("one that has to ask somebody fails where nobody is", async () => {
		const plugin = script(echo(credential({ token: "t" })), { interactiveMode: "Always" });
		await expect(createExecCredentials(plugin).current()).rejects.toThrow("standard input is not a terminal");
	});
});
