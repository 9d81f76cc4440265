// Runs the commands of docs/operations.md as written. Only programs that call clusters or a registry, build or install are replaced.
import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseFleet } from "../../agent/cluster-api/fleet-config.ts";
import { Certificates } from "../../agent/tls/certificates.ts";
import { parseCertificates } from "../../proto/credentials.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { parsePage } from "./markdown.ts";

const hasOpenssl = (spawnSync("openssl", ["version"], { encoding: "utf8" }).stdout ?? "").startsWith("OpenSSL 3");
const contexts = ["prod-eu", "prod-us", "prod-ap"];
const page = readFileSync(join(repositoryRoot, "docs/operations.md"), "utf8");

function part(page: string, from: string, to: string): string {
	const start = page.indexOf(from);
	const end = page.indexOf(to, start);
	if (start < 0 || end < 0) throw new Error(`The page has no part from "${from}" to "${to}"`);
	return page.slice(start, end);
}

/** The replaced programs, as functions that record their arguments or their input. The ID of a cluster is "NAME-id". */
const programs = `
kubectl() {
	local context=none arguments=("$@")
	if [ "$1" = --context ]; then context=$2; arguments=("\${@:3}"); fi
	printf '%s\\n' "$context \${arguments[*]}" >> calls
	case "\${arguments[*]}" in
		"get namespace kube-system"*) echo "$context-id";;
		"kustomize agent/deploy") cat agent/deploy/*.yaml;;
		*"apply -f -") cat >> "applied-$context.yaml";;
		*"--patch-file /dev/stdin") cat > /dev/null;;
		*" logs "*) cat agents.log;;
	esac
}
helm() { echo "none helm $*" >> calls; }
npm() { echo "none npm $*" >> calls; }
skopeo() { echo "none skopeo $*" >> calls; }
sudo() { echo "none sudo $*" >> calls; }
`;

const hasJq = spawnSync("jq", ["--version"]).status === 0;

describe.skipIf(!hasOpenssl || !hasJq)("all commands of the page, one after the other", () => {
	let folder: string;
	let output: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "xpdb-operations-"));
		symlinkSync(join(repositoryRoot, "agent"), join(folder, "agent"));
		const { blocks } = parsePage("docs/operations.md", page);
		const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
		writeFileSync(join(folder, "forgotten.yaml"), "[]");
		const line = blocks.find(({ language, text }) => language === "json" && text.includes('"audit":true'))?.text ?? "";
		const refused = { ...(JSON.parse(line) as object), outcome: "refused", tokenId: "JTI=1" };
		writeFileSync(join(folder, "agents.log"), `${line}${JSON.stringify(refused)}\n{"level":"info","msg":"Ready"}\n`);
		const annotations = { "authentication.kubernetes.io/issued-credential-id": "JTI=1" };
		writeFileSync(join(folder, "audit.log"), JSON.stringify({ user: { username: "bob" }, annotations }));
		output = execFileSync("bash", ["-c", ["set -eu", programs, ...commands].join("\n")], {
			cwd: folder,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "pipe"],
		});
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	const read = (file: string): string => readFileSync(join(folder, file), "utf8");

	test("make values of the same fleet for the chart", () => {
		const { members } = parse(read("values.yaml")) as { readonly members: readonly { readonly name: string }[] };
		expect(members.map(({ name }) => name)).toEqual(contexts);
		expect(read("calls")).toContain("none helm --kube-context prod-eu install xpdb agent/chart");
	});

	test("declare a fleet that agents take", async () => {
		const { members } = await parseFleet({ members: read("fleet.yaml") });
		expect(members.map(({ id, name }) => ({ id, name }))).toEqual(contexts.map((name) => ({ id: `${name}-id`, name })));
		expect(members.every(({ address }) => address?.endsWith(":8444"))).toBe(true);
	});

	test("give every cluster the fleet, the CA, a certificate, and agents of the image that was pushed", () => {
		const calls = read("calls").split("\n");
		const image = "registry.example.com/xpdb-agent:0.2.0";
		expect(calls).toContain("none npm run image");
		expect(calls).toContain(`none skopeo copy --all oci:dist/image/oci:0.2.0 docker://${image}`);
		for (const context of contexts) {
			const created = calls.filter((call) => call.startsWith(`${context} -n xpdb-system create `));
			const made = created.filter((call) => !call.includes("--dry-run"));
			expect(made.map((call) => call.split(" ").slice(4).join(" "))).toEqual([
				"configmap xpdb-fleet --from-file=members=fleet.yaml",
				"configmap xpdb-ca --from-file=ca.crt=fleet-ca.crt",
				`secret tls xpdb-agent-tls --cert=agent-${context}.crt --key=agent-${context}.key`,
			]);
			const images = read(`applied-${context}.yaml`).match(/(?<=image: ).*/g);
			expect(new Set(images)).toEqual(new Set([image]));
		}
	});

	test("find in the audit log who stood behind a refusal", () => {
		expect(output).toBe("JTI=1\tbob\n");
	});

	test("let the policies name agents of another account and their namespace of Leases", () => {
		const policies = parseAllDocuments(read("applied-none.yaml")).map((document) => JSON.stringify(document.toJS()));
		const ours = policies.filter((text) => text.includes('"ValidatingAdmissionPolicy"'));
		expect(ours).toHaveLength(2);
		expect(
			ours.every((text) =>
				text.includes("'system:serviceaccount:shop:db', 'system:serviceaccount:xpdb-system:xpdb-agent'"),
			),
		).toBe(true);
		expect(ours.filter((text) => text.includes('"kubernetes.io/metadata.name":"shop"'))).toHaveLength(1);
	});

	test("write the lists of members, and end the agents, in every cluster", () => {
		const calls = read("calls").split("\n");
		for (const context of contexts) {
			expect(calls).toContain(
				`${context} -n xpdb-system patch configmap xpdb-fleet --type merge --patch-file /dev/stdin`,
			);
			expect(calls).toContain(`${context} delete --ignore-not-found -f -`);
		}
	});

	test("put the program where kubectl finds it that the build has made", () => {
		const calls = read("calls").split("\n");
		expect(calls).toContain("none npm run build");
		expect(calls).toContain("none sudo install -m 755 dist/kubectl-xpdb /usr/local/bin/");
	});
});

describe.skipIf(!hasOpenssl)("the commands for certificates", () => {
	let folder: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "xpdb-commands-"));
		run(part(page, "openssl req -x509 -newkey", "# 5, 6"));
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	/** Runs commands for clusters with the IDs "NAME-id". Objects that they would apply go into applied.yaml. */
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
			expect(issuerOf(context)).toBe("CN=xpdb-fleet");
		}
	});

	test("change the CA, with both for a while", () => {
		run(part(page, "# 1\n", "# 3\n"));
		open("prod-eu", "both-ca.crt");
		expect(parseCertificates(readFileSync(join(folder, "both-ca.crt"), "utf8"), "the bundle")).toHaveLength(2);
		for (const kind of ["crt", "key"]) cpSync(join(folder, `new-ca.${kind}`), join(folder, `fleet-ca.${kind}`));
		run(part(page, "c=prod-eu\n", "```"));
		const renewed = open("prod-eu", "new-ca.crt");
		renewed.requireMember("prod-eu-id");
		expect(issuerOf("prod-eu")).toBe("CN=xpdb-fleet-2");
	});
});
