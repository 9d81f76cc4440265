// The commands of docs/operations.md that install the agents, and those that make certificates, run as they stand there.
import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseFleet } from "../../agent/cluster-api/fleet-config.ts";
import { Certificates } from "../../agent/server/certificates.ts";
import { parseCertificates } from "../../proto/credentials.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";

const hasOpenssl = (spawnSync("openssl", ["version"], { encoding: "utf8" }).stdout ?? "").startsWith("OpenSSL 3");
const contexts = ["prod-eu", "prod-us", "prod-ap"];
const page = readFileSync(join(repositoryRoot, "docs/operations.md"), "utf8");

/** The part of a page from one line to another, without the second. */
function part(page: string, from: string, to: string): string {
	const start = page.indexOf(from);
	const end = page.indexOf(to, start);
	if (start < 0 || end < 0) throw new Error(`The page has no part from "${from}" to "${to}"`);
	return page.slice(start, end);
}

/** In the places of programs that ask clusters: each leaves what it was given. Clusters have the id "NAME-id". */
const programs = `
kubectl() {
	local context=none arguments=("$@")
	if [ "$1" = --context ]; then context=$2; arguments=("\${@:3}"); fi
	printf '%s\\n' "$context \${arguments[*]}" >> calls
	case "\${arguments[*]}" in
		"get namespace kube-system"*) echo "$context-id";;
		"kustomize agent/deploy") cat agent/deploy/*.yaml;;
		*"apply -f -") cat > "applied-$context.yaml";;
	esac
}
npm() { echo "none npm $*" >> calls; }
docker() { echo "none docker $*" >> calls; }
sudo() { echo "none sudo $*" >> calls; cat > plugin; }
`;

describe.skipIf(!hasOpenssl)("the commands that install", () => {
	let folder: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "xpdb-install-"));
		symlinkSync(join(repositoryRoot, "agent"), join(folder, "agent"));
		const commands = part(page.slice(page.indexOf("## Install")), "```sh\n", "\n```\n").slice("```sh\n".length);
		execFileSync("bash", ["-c", `set -eu\n${programs}\n${commands}`], {
			cwd: folder,
			stdio: ["ignore", "ignore", "pipe"],
		});
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	const read = (file: string): string => readFileSync(join(folder, file), "utf8");

	test("declare a fleet that agents take", async () => {
		const { members } = await parseFleet({ members: read("fleet.yaml") });
		expect(members.map(({ id, name }) => ({ id, name }))).toEqual(contexts.map((name) => ({ id: `${name}-id`, name })));
		expect(members.every(({ address }) => address?.endsWith(":8444"))).toBe(true);
	});

	test("give every cluster the fleet, the CA, a certificate, and agents of the image that was pushed", () => {
		const calls = read("calls").split("\n");
		expect(calls).toContain("none docker push registry.example.com/xpdb-agent:0.1.0");
		for (const context of contexts) {
			const made = calls.filter((call) => call.startsWith(`${context} -n xpdb-system create `));
			expect(made.map((call) => call.split(" ").slice(4).join(" "))).toEqual([
				"configmap xpdb-fleet --from-file=members=fleet.yaml",
				"configmap xpdb-ca --from-file=ca.crt=fleet-ca.crt",
				`secret tls xpdb-agent-tls --cert=agent-${context}.crt --key=agent-${context}.key`,
			]);
			const images = read(`applied-${context}.yaml`).match(/(?<=image: ).*/g);
			expect(images).toEqual(["registry.example.com/xpdb-agent:0.1.0"]);
		}
	});

	test("leave a plugin that starts the program which was built", () => {
		expect(read("plugin")).toMatch(/^#!\/bin\/sh\nexec ".*\/node" ".*\/dist\/kubectl-xpdb\.js" "\$@"\n$/);
	});
});

describe.skipIf(!hasOpenssl)("the commands for certificates", () => {
	let folder: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "xpdb-commands-"));
		run(part(page, "openssl req -x509 -newkey", "# 5, 6"));
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
