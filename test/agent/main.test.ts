import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "..", "..", "agent", "main.ts");

async function run(args: readonly string[], env: Record<string, string> = {}) {
	const child = spawn(process.execPath, [program, ...args], { env: { PATH: process.env["PATH"] ?? "", ...env } });
	const output = { stdout: "", stderr: "" };
	for (const name of ["stdout", "stderr"] as const) {
		child[name].setEncoding("utf8").on("data", (text: string) => {
			output[name] += text;
		});
	}
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	return { code, ...output };
}

const files = [
	"--tls-cert-file=/nowhere/tls.crt",
	"--tls-private-key-file=/nowhere/tls.key",
	"--client-ca-file=/nowhere/ca.crt",
];
const pod = { POD_NAME: "agent-a", POD_NAMESPACE: "xpdb-system", POD_IP: "127.0.0.1" };

describe("the process", () => {
	test("refuses flags that make no sense: one line with the reason, exit code 1", async () => {
		expect(
			await run(["--listen-address=somewhere", ...files], { ...pod, KUBERNETES_SERVICE_HOST: "127.0.0.1" }),
		).toEqual({
			code: 1,
			stdout: "",
			stderr: 'error: --listen-address must be HOST:PORT, is "somewhere"\n',
		});
	});

	test("refuses files that cannot be read in the same way", async () => {
		const { code, stderr } = await run(files, { ...pod, KUBERNETES_SERVICE_HOST: "127.0.0.1" });
		expect(code).toBe(1);
		expect(stderr).toMatch(/^error: cannot read "\/nowhere\/tls.crt": ENOENT.*\n$/);
	});

	test("prints help", async () => {
		const { code, stdout } = await run(["--help"]);
		expect(code).toBe(0);
		expect(stdout).toContain("--peer-listen-address");
	});
});
