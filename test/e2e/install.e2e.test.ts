// A fleet by the plugin alone: made of three clusters that have nothing of ours, used, upgraded and taken away again, to the last object.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentPods, startAgentPods } from "../../demo/agents/agent-pods.ts";
import { type ApiClient, isStatus } from "../../demo/machine/api-client.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { type Fleet, startFleet } from "../controlplane/fleet.ts";
import { createPodNetwork } from "../controlplane/kwok-pod-network.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually } from "./kubectl.ts";

const programs = join(repositoryRoot, "dist", "test");

interface Said {
	readonly code: number | null;
	readonly out: string;
	readonly err: string;
}

describeOnFleet("install, upgrade and uninstall", () => {
	let fleet: Fleet;
	let agents: readonly AgentPods[] = [];

	beforeAll(async () => {
		const dir = mkdtempSync(join(tmpdir(), "xpdb-install-"));
		fleet = await startFleet({ clusters: 3, nodes: 1, dir, agents: false, oldest: sharedFleet().oldest });
		agents = await Promise.all(
			fleet.clusters.map(async (cluster) =>
				startAgentPods({
					cluster: { ...cluster, network: (client) => createPodNetwork(client, cluster) },
					program: join(programs, "agent.js"),
					fleetCertificate: "",
				}),
			),
		);
	});

	afterAll(async () => {
		await Promise.all(agents.map(async (pods) => pods.stop()));
		await fleet.stop();
		rmSync(fleet.dir, { recursive: true, force: true });
	});

	/** The plugin as the administrator of all three. */
	async function xpdb(command: string, ...flags: readonly string[]): Promise<Said> {
		const program = join(programs, "kubectl-xpdb.js");
		const child = spawn(process.execPath, [program, command, "--contexts", "c1,c2,c3", ...flags], {
			env: { ...process.env, KUBECONFIG: fleet.kubeconfigPath },
			stdio: ["ignore", "pipe", "pipe"],
		});
		const said = { out: "", err: "" };
		child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
		child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
		const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
		return { code, ...said };
	}

	function kubectl(cluster: string, ...words: readonly string[]): string {
		const { stdout, stderr, status } = spawnSync(
			fleet.binaries.kubectl,
			["--kubeconfig", fleet.kubeconfigPath, "--context", cluster, ...words],
			{ encoding: "utf8" },
		);
		if (status !== 0) throw new Error(stderr);
		return stdout;
	}

	/** Every object of ours, of whatever kind. */
	function ours(cluster: string): readonly string[] {
		const kinds = kubectl(cluster, "api-resources", "--verbs=list", "-o", "name").trim().split("\n");
		const listed = kinds.filter((kind) => !kind.startsWith("events"));
		return kubectl(cluster, "get", listed.join(","), "-A", "-o", "name", "--ignore-not-found")
			.split("\n")
			.filter((line) => line.includes("xpdb"));
	}

	const addresses = (): readonly string[] =>
		fleet.clusters.flatMap(({ name, address }) => ["--address", `${name}=${address}:8444`]);

	test("makes a fleet, changes nothing a second time, replaces agents, and leaves none of its objects", async () => {
		for (const { name } of fleet.clusters) expect(ours(name)).toEqual([]);
		const flags = ["--image", "example.com/agent:1", ...addresses()];

		const shown = await xpdb("install", ...flags, "--dry-run=client", "-o", "yaml");
		expect(shown.code, shown.err).toBe(0);
		expect(shown.out).not.toContain("kind: Secret");
		expect((await xpdb("install", ...flags, "--dry-run=client", "-o", "yaml")).out).toBe(shown.out);
		expect(await xpdb("install", ...flags)).toMatchObject({
			code: 1,
			err: expect.stringContaining("an installation needs a confirmation, and there is no terminal to ask on"),
		});
		for (const { name } of fleet.clusters) expect(ours(name)).toEqual([]);

		const kubelets = fleet.clusters.map(async (cluster, index) => bringCertificates(cluster, agents[index]));
		const installed = await xpdb("install", ...flags, "-y");
		await Promise.all(kubelets);
		expect(installed.code, installed.out + installed.err).toBe(0);
		expect(installed.out + installed.err).not.toContain("PRIVATE KEY");
		for (const { name } of fleet.clusters) expect(installed.out).toContain(`${name}  agents answer, `);
		expect(installed.out).toMatch(/^(\d+) checks: \1 ok \(/m);

		kubectl("c1", "apply", "-f", join(fleet.dir, "demo.yaml"));
		const budgets = await xpdb("budgets", "-A");
		expect(budgets.code, budgets.err).toBe(0);

		const again = await xpdb("install", ...flags);
		expect(again.code, again.err).toBe(0);
		expect(again.out).toContain("Everything is as it should be: nothing was changed\n");

		const upgraded = await xpdb("upgrade", "--image", "example.com/agent:2", "-y");
		expect(upgraded.code, upgraded.out + upgraded.err).toBe(0);
		expect(upgraded.out.match(/^c\d {2}.* changed$/gm)).toEqual(
			["c1", "c2", "c3"].map((name) => `${name}  deployment.apps/xpdb-agent changed`),
		);

		const removed = await xpdb("uninstall", "-y");
		expect(removed.code, removed.out + removed.err).toBe(0);
		for (const { name } of fleet.clusters) expect(ours(name)).toEqual([]);
		expect(kubectl("c1", "get", "xpoddisruptionbudgets", "-A", "-o", "name")).not.toBe("");
		expect((await xpdb("uninstall", "-y")).out).toBe("There is nothing to remove\n");
	});
});

/** The part of the kubelets that mounts what agents start with. */
async function bringCertificates(cluster: RunningCluster, pods: AgentPods | undefined): Promise<void> {
	const admin = createAdminClient(cluster);
	const place = "/api/v1/namespaces/xpdb-system";
	try {
		await eventually("a certificate for the agents", async () => {
			const [secret, map] = await Promise.all([
				readMounted(admin, `${place}/secrets/xpdb-agent-tls`),
				readMounted(admin, `${place}/configmaps/xpdb-ca`),
			]);
			if (!secret || !map) return false;
			writeFileSync(join(cluster.dir, "agents", "fleet-ca.crt"), map["ca.crt"] ?? "");
			const text = (key: string): string => Buffer.from(secret[key] ?? "", "base64").toString();
			pods?.setCertificate({ certificate: text("tls.crt"), key: text("tls.key") });
			return true;
		});
	} finally {
		admin.close();
	}
}

async function readMounted(admin: ApiClient, path: string): Promise<Readonly<Record<string, string>> | undefined> {
	try {
		const { data } = await admin.get<{ readonly data: Readonly<Record<string, string>> }>(path);
		return data;
	} catch (error) {
		if (isStatus(error, 404)) return undefined;
		throw error;
	}
}
