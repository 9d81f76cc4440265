// The commands of the README and of docs/operations.md that make certificates, run as they stand there.
import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Certificates } from "../../agent/server/certificates.ts";
import { parseCertificates } from "../../proto/credentials.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";

const hasOpenssl = (spawnSync("openssl", ["version"], { encoding: "utf8" }).stdout ?? "").startsWith("OpenSSL 3");
const contexts = ["prod-eu", "prod-us"];
const text = (file: string) => readFileSync(join(repositoryRoot, file), "utf8");

/** The part of a page from one line to another, without the second. */
function part(page: string, from: string, to: string): string {
	const start = page.indexOf(from);
	const end = page.indexOf(to, start);
	if (start < 0 || end < 0) throw new Error(`The page has no part from "${from}" to "${to}"`);
	return page.slice(start, end);
}

describe.skipIf(!hasOpenssl)("the commands for certificates", () => {
	let folder: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "xpdb-commands-"));
		run(part(text("README.md"), "openssl req -x509 -newkey", "# 5, 6"));
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	/** Clusters have the id "NAME-id"; what would be applied to one is dropped. */
	function run(commands: string): void {
		const setting = [
			"set -eu",
			`CONTEXTS="${contexts.join(" ")}"`,
			'cluster_id() { echo "$1-id"; }',
			"kubectl() { case $* in *'apply -f -') cat > applied.yaml;; esac; }",
		];
		const script = [...setting, commands].join("\n");
		execFileSync("bash", ["-c", script], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
	}

	function open(context: string, ca: string): Certificates {
		return new Certificates({
			files: {
				certificateFile: join(folder, `agent-${context}.crt`),
				privateKeyFile: join(folder, `agent-${context}.key`),
				caFile: join(folder, ca),
			},
			serverName: "xpdb-agent.xpdb-system.svc",
			report: (problem) => {
				throw problem;
			},
		});
	}

	function issuerOf(context: string): string {
		return new X509Certificate(readFileSync(join(folder, `agent-${context}.crt`))).issuer;
	}

	test("give each cluster one that its agent takes", () => {
		for (const context of contexts) {
			const certificates = open(context, "fleet-ca.crt");
			certificates.requireMember(`${context}-id`);
			certificates.close();
			expect(issuerOf(context)).toBe("CN=xpdb-fleet");
		}
	});

	test("change the CA, with both for a while", () => {
		const page = text("docs/operations.md");
		run(part(page, "# 1\n", "# 3\n"));
		open("prod-eu", "both-ca.crt").close();
		expect(parseCertificates(readFileSync(join(folder, "both-ca.crt"), "utf8"), "the bundle")).toHaveLength(2);
		for (const kind of ["crt", "key"]) cpSync(join(folder, `new-ca.${kind}`), join(folder, `fleet-ca.${kind}`));
		run(part(page, "c=prod-eu\n", "```"));
		const renewed = open("prod-eu", "new-ca.crt");
		renewed.requireMember("prod-eu-id");
		renewed.close();
		expect(issuerOf("prod-eu")).toBe("CN=xpdb-fleet-2");
	});
});
