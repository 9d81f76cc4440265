// Tests the agent's image as shipped, without docker: builds it, unpacks it, and runs it with its own files only.
import { execFileSync } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";
import { whyNoDebian } from "../../scripts/image/debian-packages.ts";
import { runCommand } from "../../scripts/run-command.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually, kubectl } from "../e2e/kubectl.ts";
import { missingForContained, startContained } from "../support/contained-process.ts";

interface Archived {
	readonly Config: string;
	readonly Layers: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "xpdb-image-e2e-"));
const root = join(folder, "root");
const architecture = process.arch === "x64" ? "amd64" : "arm64";
const missing = missingForContained() ?? (await whyNoDebian());
let entrypoint: readonly string[] = [];

/** Both suites that run the image share one unpacked copy. */
let unpacking: Promise<void> | undefined;
function unpacked(): Promise<void> {
	unpacking ??= makeAndUnpack();
	return unpacking;
}

async function makeAndUnpack(): Promise<void> {
	const made = join(folder, "made");
	const args = [`--only=${architecture}`, `--output=${made}`];
	const { code, output } = await runCommand([process.execPath, "scripts/image/main.ts", ...args]);
	if (code !== 0) throw new Error(output);
	const archive = readdirSync(made).find((file) => file.endsWith(".tar")) ?? "";
	const [all] = [join(folder, "archive")];
	mkdirSync(all);
	execFileSync("tar", ["xf", join(made, archive), "-C", all]);
	const [image] = JSON.parse(readFileSync(join(all, "manifest.json"), "utf8")) as Archived[];
	if (image === undefined) throw new Error("There is no image in it");
	mkdirSync(root);
	for (const layer of image.Layers) execFileSync("tar", ["xzf", join(all, layer), "-C", root]);
	const { config } = JSON.parse(readFileSync(join(all, image.Config), "utf8")) as { config: { Entrypoint: string[] } };
	entrypoint = config.Entrypoint;
	// Mount points for what the kubelet provides.
	for (const mount of ["etc/xpdb", "proc"]) mkdirSync(join(root, mount));
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));
const describeImage = missing === undefined ? describe : describe.skip;
const reason = missing === undefined ? "" : ` (skipped: ${missing})`;

describeImage(`the agent's image${reason}`, () => {
	beforeAll(unpacked);

	test("has Node, the agent, the libraries of both, certificates and licences, and no shell beside them", () => {
		const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
		const programs = files.filter((entry) => (statSync(join(entry.parentPath, entry.name)).mode & 0o111) !== 0);
		const names = programs.map(({ name }) => name).filter((name) => !/\.so(\.\d+)*$/.test(name));
		expect(names).toEqual(["node"]);
		expect(files.filter(({ name }) => /^(npm|npx|sh|bash|busybox)$/.test(name))).toEqual([]);
		for (const file of ["etc/ssl/certs/ca-certificates.crt", "etc/os-release", "licenses/LICENSE"]) {
			expect(existsSync(join(root, file)), file).toBe(true);
		}
		expect(readFileSync(join(root, "licenses/THIRD-PARTY-LICENSES"), "utf8")).toContain("Node.js 24.");
	});

	test("runs as its user, who may write nowhere", async () => {
		const script = `
			const tried = ["/x", "/etc/x", "/tmp/x", process.execPath].map((path) => {
				try { fs.writeFileSync(path, ""); return path; } catch (error) { return error.code; }
			});
			console.log(JSON.stringify([process.getuid(), process.getgid(), ...tried]));`;
		await using contained = startContained(root, [entrypoint[0] ?? "", "--eval", script]);
		expect(await contained.ended, contained.output()).toBe(0);
		expect(JSON.parse(contained.output())).toEqual([65532, 65532, "EROFS", "EROFS", "ENOENT", "EROFS"]);
	});

	test("knows the authorities of its own list of certificates", async () => {
		const script = `console.log(tls.getCACertificates("extra").length > 100, new Intl.DateTimeFormat("de").format(0))`;
		const env = { NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt", TZ: "UTC" };
		await using contained = startContained(root, [entrypoint[0] ?? "", "--eval", script], env);
		expect(await contained.ended, contained.output()).toBe(0);
		expect(contained.output()).toBe("true 1.1.1970\n");
	});

	test("says what is missing where it is told nothing", async () => {
		await using contained = startContained(root, entrypoint);
		expect(await contained.ended).toBe(1);
		expect(contained.output()).toBe(
			"error: --kubeconfig is needed outside of a cluster (KUBERNETES_SERVICE_HOST is not set)\n",
		);
	});
});

const shippedDeployment = parseAllDocuments(readFileSync("agent/deploy/deployment.yaml", "utf8"))
	.map((document) => document.toJS() as { kind: string; spec: { template: { spec: AgentPodSpec } } })
	.find(({ kind }) => kind === "Deployment");

interface AgentPodSpec {
	readonly securityContext: { readonly seccompProfile?: object };
	readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
}

describeOnFleet(
	"the agent's image on a real cluster",
	() => {
		beforeAll(unpacked);

		test("is ready under the shipped account and settings, and ends in order", async () => {
			const { octet, clusters } = sharedFleet();
			const cluster = clusters[0];
			if (cluster === undefined) throw new Error("There is no cluster");
			const mount = join(root, "etc", "xpdb");
			for (const file of ["tls.crt", "tls.key", "fleet-ca.crt"])
				cpSync(join(cluster.dir, "agents", file), join(mount, file));
			const token = await kubectl(cluster.name, ["-n", "xpdb-system", "create", "token", "xpdb-agent"]);
			writeFileSync(join(mount, "token"), token);
			const user = { user: "agent", credentials: { tokenFile: "/etc/xpdb/token" } };
			const authority = readFileSync(join(cluster.dir, "pki", "ca.crt"), "utf8");
			const entry = { context: "agent", cluster: "own", server: cluster.server, authority, ...user };
			writeKubeconfig(join(mount, "kubeconfig"), [entry]);
			// An address that no pod of the cluster gets.
			const address = `127.${octet}.1.252`;
			const settings = shippedDeployment?.spec.template.spec.containers[0]?.env ?? [];
			const env = Object.fromEntries(
				settings.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
			);
			const args = {
				kubeconfig: "/etc/xpdb/kubeconfig",
				"tls-cert-file": "/etc/xpdb/tls.crt",
				"tls-private-key-file": "/etc/xpdb/tls.key",
				"client-ca-file": "/etc/xpdb/fleet-ca.crt",
				"listen-address": `${address}:8443`,
				"peer-listen-address": `${address}:8444`,
				"http-listen-address": `${address}:8080`,
				"pod-name": "from-the-image",
				"pod-namespace": "xpdb-system",
				"pod-ip": address,
			};
			const flags = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
			const startedAt = performance.now();
			await using contained = startContained(root, [...entrypoint, ...flags], env);
			const probe = (path: string) =>
				fetch(`http://${address}:8080${path}`).then(
					({ status }) => status,
					() => 0,
				);
			let over = false;
			void contained.ended.then(() => {
				over = true;
			});
			await eventually("the agent to be ready", async () => {
				if (over) throw new Error(contained.output());
				return (await probe("/readyz")) === 200;
			});
			console.log(`ready ${Math.round(performance.now() - startedAt)} ms after its start`);
			expect(await probe("/healthz")).toBe(200);
			contained.signal("SIGTERM");
			expect(await contained.ended, contained.output()).toBe(0);
			expect(contained.output()).toContain("The agent has ended");
		});
	},
	{ missing },
);

describeOnFleet("the shipped Deployment on a real cluster", () => {
	const podOf = (spec: AgentPodSpec) => ({
		apiVersion: "v1",
		kind: "Pod",
		metadata: { name: "restricted", namespace: "xpdb-system" },
		spec,
	});
	const dryRun = (object: object) =>
		kubectl("c1", ["create", "--dry-run=server", "-o", "name", "-f", "-"], JSON.stringify(object));

	test("makes pods that the Pod Security Standard restricted lets in, which refuses them with a right more", async () => {
		const spec = shippedDeployment?.spec.template.spec;
		if (spec === undefined) throw new Error("There is no Deployment");
		expect(await dryRun(podOf(spec))).toBe("pod/restricted\n");
		const { seccompProfile: _, ...securityContext } = spec.securityContext;
		await expect(dryRun(podOf({ ...spec, securityContext }))).rejects.toThrow(
			/violates PodSecurity "restricted:latest": seccompProfile/,
		);
	});
});
