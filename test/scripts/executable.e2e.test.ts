// Tests the plugin as shipped: one file with Node inside. Building it takes too long for unit tests.
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestCluster, type TestCluster } from "../kubernetes/test-cluster.ts";
import { fillStuckNodes, stuckNodes } from "../plugin/ui/stuck-nodes.ts";
import { shippedExecutable } from "../support/shipped-executable.ts";
import { startInTerminal } from "../support/pseudo-terminal.ts";

describe("dist/kubectl-xpdb", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-executable-test-"));
	const plugin = join(folder, "alone", "kubectl-xpdb");
	let cluster: TestCluster;
	beforeAll(async () => {
		const built = await shippedExecutable();
		// A folder without any other file of ours.
		mkdirSync(join(folder, "alone"));
		copyFileSync(built, plugin);
		cluster = await startTestCluster({ nodes: 2 });
		await fillStuckNodes(cluster);
	});
	afterAll(async () => {
		await cluster?.stop();
		rmSync(folder, { recursive: true });
	});

	const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
		spawnSync(plugin, args, { cwd: "/", env, encoding: "utf8" });

	test("runs without a home, a PATH or anything else, from code that V8 has compiled before", () => {
		const { status, stdout, stderr } = run(["version", "--client"], { NODE_DEBUG: "kubectl-xpdb" });
		const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
		expect({ status, stdout, stderr }).toEqual({
			status: 0,
			stdout: `Client: v${version}\n`,
			stderr: "plugin: compiled code accepted\n",
		});
	});

	test("takes code of its own for calls that need little, and for all else", () => {
		for (const words of [
			["__complete", "bud"],
			["budgets", "--help"],
			["evict", "--help"],
			["drain", "--help"],
		]) {
			const { stdout, stderr } = run(words, { NODE_DEBUG: "kubectl-xpdb" });
			expect({ words, stderr }).toEqual({ words, stderr: "plugin: compiled code accepted\n" });
			expect(stdout).toMatch(/^budgets\t|Usage:/m);
		}
	});

	test("is not changed by the NODE_OPTIONS of another program", () => {
		const other = join(folder, "other.cjs");
		writeFileSync(other, 'process.stdout.write("code of another program\\n");');
		for (const options of [`--require=${other}`, "--no-such-option"]) {
			const { status, stdout, stderr } = run(["version", "--client"], { NODE_OPTIONS: options });
			expect({ status, stderr }, options).toEqual({ status: 0, stderr: "" });
			expect(stdout, options).toMatch(/^Client: v\d+\.\d+\.\d+\n$/);
		}
	});

	test.skipIf(spawnSync("strace", ["-V"]).error)("opens no file of a program, as strace sees it", () => {
		const traced = spawnSync("strace", ["-f", "-e", "trace=open,openat", plugin, "drain", "--help"], {
			encoding: "utf8",
		});
		const opened = traced.stderr.match(/(?<=openat?\([^"]*")[^"]+/g) ?? [];
		expect(opened.length).toBeGreaterThan(0);
		expect(opened.filter((path) => /node_modules|locales|\.(js|json|wasm|node)$/.test(path))).toEqual([]);
	});

	test("takes its logins from the library that is a part of its own", () => {
		const kubeconfig = join(folder, "login.yaml");
		const config = "{id-token: x, client-id: xpdb, idp-issuer-url: 'https://127.0.0.1:1'}";
		const users = `users: [{name: u, user: {auth-provider: {name: oidc, config: ${config}}}}]`;
		const clusters = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]";
		const contexts = "contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c";
		writeFileSync(kubeconfig, `apiVersion: v1\nkind: Config\n${clusters}\n${users}\n${contexts}\n`);
		const { stderr } = run(["budgets", `--kubeconfig=${kubeconfig}`], { NODE_DEBUG: "kubectl-xpdb" });
		expect(stderr).toContain("client-node: compiled code none");
	});

	test("believes the authorities of the machine and of NODE_EXTRA_CA_CERTS where the kubeconfig names none, and nobody else", async () => {
		const [kubeconfig, authority] = [join(folder, "public.yaml"), join(folder, "authority.crt")];
		const text = readFileSync(cluster.kubeconfig, "utf8");
		const [line = "", data = ""] = /certificate-authority-data: (\S+)/.exec(text) ?? [];
		writeFileSync(kubeconfig, text.replace(line, ""));
		writeFileSync(authority, Buffer.from(data, "base64"));
		// Asynchronously, because the cluster runs in this process.
		const getVersion = (env: Readonly<Record<string, string>>) =>
			new Promise<string>((resolve) => {
				execFile(plugin, ["version", `--kubeconfig=${kubeconfig}`], { env }, (_, ...said) => resolve(said.join("")));
			});
		for (const variable of ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]) {
			expect(await getVersion({ [variable]: authority }), variable).toContain("c1: no xpdb agent in this cluster\n");
		}
		expect(await getVersion({})).toContain("self-signed certificate in certificate chain");
	});

	test("draws the screen of a drain, and leaves with what is left to do", async () => {
		const args = ["drain", ...stuckNodes, "--force", "--max-nodes=2", `--kubeconfig=${cluster.kubeconfig}`];
		using terminal = startInTerminal(plugin, args);
		await terminal.shows("WAITING 2");
		expect(terminal.screen.isAlternate).toBe(true);
		terminal.press("\u0003");
		expect((await terminal.ended).exitCode).toBe(130);
		expect(terminal.screen.lines.join("\n")).toMatch(/Stopped: 0 nodes drained, 2 not, 0 pods evicted/);
	});
});
