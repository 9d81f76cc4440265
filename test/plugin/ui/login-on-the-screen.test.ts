// Tests a login that expires while the drain's screen is shown, and then prompts the user.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { bundle } from "../../../scripts/bundle.ts";
import { startTestCluster, type TestCluster } from "../../kubernetes/test-cluster.ts";
import { type PseudoTerminal, startInTerminal } from "../../support/pseudo-terminal.ts";
import { fillStuckNodes, stuckNodes } from "./stuck-nodes.ts";

const ctrlC = "\u0003";
/** Expires before the drain calls the API server again. */
const holdsForSeconds = 2;

describe("a login that asks while the screen is up", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-login-screen-"));
	const plugin = join(folder, "kubectl-xpdb.js");
	const answers = join(folder, "answers");
	/** While this file exists, logins ask for a code. */
	const isUp = join(folder, "is-up");
	const login = join(folder, "login.sh");
	const kubeconfig = join(folder, "kubeconfig");
	let cluster: TestCluster;

	beforeAll(async () => {
		[cluster] = await Promise.all([startTestCluster({ nodes: 2 }), bundle({ folder, failPoints: false })]);
		await fillStuckNodes(cluster);
		const { admin } = cluster.certificates.pairs;
		const status = { clientCertificateData: admin.certificate, clientKeyData: admin.key, expirationTimestamp: "@end@" };
		const answer = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
		writeFileSync(join(folder, "answer"), JSON.stringify(answer));
		// Earlier logins ask for nothing, however long the screen takes to appear.
		writeFileSync(
			login,
			`if [ -f '${isUp}' ]; then printf 'Code of your device: ' >&2; read -r code; echo "$code" >> '${answers}'; fi
end=$(date -u -d '+${holdsForSeconds} seconds' +%Y-%m-%dT%H:%M:%SZ)
[ "$code" = lasting ] && end=2999-01-01T00:00:00Z
sed "s/@end@/$end/" '${join(folder, "answer")}'
`,
		);
		const config = parse(readFileSync(cluster.kubeconfig, "utf8")) as { users: { user: object }[] };
		const exec = {
			apiVersion: "client.authentication.k8s.io/v1",
			command: "sh",
			args: [login],
			interactiveMode: "IfAvailable",
		};
		config.users = config.users.map((user) => ({ ...user, user: { exec } }));
		writeFileSync(kubeconfig, stringify(config));
	});
	afterAll(async () => {
		await cluster.stop();
		rmSync(folder, { recursive: true });
	});

	async function drain(): Promise<PseudoTerminal> {
		for (const file of [answers, isUp]) rmSync(file, { force: true });
		const words = [plugin, "drain", ...stuckNodes, "--force", "--max-nodes=2", `--kubeconfig=${kubeconfig}`];
		const terminal = startInTerminal(process.execPath, words, { env: { HOME: folder } });
		try {
			await terminal.shows("WAITING 2");
		} catch (error) {
			terminal[Symbol.dispose]();
			throw error;
		}
		writeFileSync(isUp, "");
		return terminal;
	}

	test("has the terminal alone, and the screen comes back after it", async () => {
		using terminal = await drain();
		await terminal.shows("Code of your device:");
		expect(terminal.screen.isAlternate).toBe(false);
		const before = terminal.output().length;
		await new Promise((resolve) => {
			setTimeout(resolve, 2_500);
		});
		expect(terminal.output().slice(before)).toBe("");
		terminal.press("lasting\r");
		await terminal.until(() => terminal.screen.isAlternate);
		await terminal.shows("WAITING 2");
		expect(readFileSync(answers, "utf8")).toBe("lasting\n");
		terminal.press(ctrlC);
		expect((await terminal.ended).exitCode).toBe(130);
		expect(terminal.screen.isAlternate).toBe(false);
	});

	test("is ended by Ctrl-C, and the run with it", async () => {
		using terminal = await drain();
		await terminal.shows("Code of your device:");
		terminal.press(ctrlC);
		expect((await terminal.ended).exitCode).toBe(130);
		expect(terminal.screen.isAlternate).toBe(false);
		expect(terminal.screen.lines.join("\n")).toContain("Stopped: 0 nodes drained");
	});
});
