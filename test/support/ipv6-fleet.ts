// What a user does in a fleet whose API servers and agents listen on ::1: install, check, evict, drain. The same tests run on small API
// servers and on real ones.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { readTimeline } from "../../demo/audit/audit.ts";
import { findViolations, replayAvailability, worstUnavailable } from "../../demo/audit/availability.ts";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { hasIpv6Loopback, whyWithoutIpv6 } from "./ipv6-loopback.ts";

interface Said {
	readonly code: number | null;
	readonly out: string;
	readonly err: string;
}

export interface Ipv6Cluster {
	readonly name: string;
	/** The API server's URL for people and agents. */
	readonly server: string;
	readonly auditLog: string;
	/** The administrator's client. */
	readonly client: ApiClient;
}

/** Clusters with nothing of xpdb's. The contexts of the administrator have the names of the clusters. */
export interface Ipv6Fleet extends AsyncDisposable {
	readonly clusters: readonly Ipv6Cluster[];
	/** Runs install with these flags, or applies the objects that it prints. */
	install(flags: readonly string[]): Promise<Said>;
	/** The flags --address for all clusters. */
	readonly addresses: readonly string[];
	xpdb(args: readonly string[]): Promise<Said>;
}

const names = ["c1", "c2"];
const both = `--contexts=${names.join(",")}`;
/** Two replicas of a database in each cluster, and a budget that lets one of the four go at a time. */
const database = join(repositoryRoot, "demo", "database.yaml");
const replicas = { namespace: "default", matchLabels: { app: "db" }, expected: 4 };

interface Pod {
	readonly metadata: { readonly name: string };
	readonly spec: { readonly nodeName?: string };
	readonly status?: {
		readonly podIP?: string;
		readonly podIPs?: readonly { readonly ip: string }[];
		readonly conditions?: readonly { readonly type: string; readonly status: string }[];
	};
}

/** Defines the tests. `start` starts two clusters, c1 and c2. `describeSuite` may skip them for another reason. */
export function describeIpv6Fleet(
	name: string,
	start: () => Promise<Ipv6Fleet>,
	describeSuite: (name: string, suite: () => void) => void = describe,
): void {
	if (!hasIpv6Loopback) console.log(`${name}${whyWithoutIpv6}`);
	const define = hasIpv6Loopback ? describeSuite : describe.skip;
	define(`${name}${whyWithoutIpv6}`, () => {
		let fleet: Ipv6Fleet;
		beforeAll(async () => {
			fleet = await start();
		});
		afterAll(() => fleet?.[Symbol.asyncDispose]());

		const run = async (...args: readonly string[]): Promise<string> => well(await fleet.xpdb(args));
		const podsOf = async ({ client }: Ipv6Cluster, namespace: string, label: string): Promise<readonly Pod[]> => {
			const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(label)}`;
			return (await client.get<{ readonly items: readonly Pod[] }>(path)).items;
		};
		/** Waits until each cluster has two ready pods with this label. */
		const ready = async (namespace: string, label: string): Promise<void> => {
			const readyPods = async (): Promise<readonly number[]> => {
				const found = await Promise.all(fleet.clusters.map((cluster) => podsOf(cluster, namespace, label)));
				return found.map((pods) => pods.filter(isReady).length);
			};
			await expect.poll(readyPods, { timeout: 60_000, interval: 200 }).toEqual([2, 2]);
		};
		const databaseReady = () => ready("default", "app=db");

		test("install makes a fleet of them, and lists addresses with brackets", async () => {
			for (const { server } of fleet.clusters) expect(server).toMatch(/^https:\/\/\[::1\]:\d+$/);
			well(await fleet.install([both, "--image=registry.example.com/xpdb-agent:0.2.0", ...fleet.addresses]));
			for (const { client } of fleet.clusters) {
				const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
				const { data } = await client.get<{ readonly data: { readonly members: string } }>(path);
				expect(data.members.match(/address: "?\[::1\]:\d+"?\n/g)).toHaveLength(names.length);
			}
		});

		test("the agents are at ::1, and become ready", async () => {
			await ready("xpdb-system", "app.kubernetes.io/name=xpdb-agent");
			for (const cluster of fleet.clusters) {
				const pods = await podsOf(cluster, "xpdb-system", "app.kubernetes.io/name=xpdb-agent");
				for (const { status } of pods) expect(status).toMatchObject({ podIP: "::1", podIPs: [{ ip: "::1" }] });
			}
		});

		test("check finds nothing, also if the agents have to reach the other cluster", async () => {
			await run("check", both);
			const said = await run("fleet", "list", "--contexts=c1");
			expect(said).toMatch(/^c2 .*\[::1\]:\d+/m);
		});

		test("evict takes pods in both clusters, one at a time", async () => {
			for (const { client } of fleet.clusters) await createDatabase(client);
			await databaseReady();
			const said = await run("evict", "c1/db-0", "c2/db-0", both, "--namespace=default", "--yes");
			for (const name of names) expect(said).toMatch(new RegExp(`^${name} .*db-0 evicted`, "m"));
			await databaseReady();
		});

		test("drain through one context asks the agents of the other cluster", async () => {
			const [first] = fleet.clusters;
			const [pod] = first ? await podsOf(first, "default", "app=db") : [];
			const node = pod?.spec.nodeName ?? "";
			expect(await run("drain", node, "--contexts=c1", "--yes")).toContain(`${node} drained`);
			await databaseReady();
			const logs = fleet.clusters.map(({ name: cluster, auditLog }) => ({ name: cluster, auditLog }));
			const samples = replayAvailability(await readTimeline(logs), replicas);
			expect(findViolations(samples, { maxUnavailable: 1 })).toEqual([]);
			expect(worstUnavailable(samples)).toBe(1);
		});
	});
}

function well({ code, out, err }: Said): string {
	expect(code, out + err).toBe(0);
	return out + err;
}

function isReady({ status }: Pod): boolean {
	return status?.conditions?.some(({ type, status: holds }) => type === "Ready" && holds === "True") === true;
}

async function createDatabase(client: ApiClient): Promise<void> {
	for (const document of parseAllDocuments(readFileSync(database, "utf8"))) {
		const object = document.toJS() as { readonly apiVersion: string; readonly kind: string };
		const plural = object.kind === "StatefulSet" ? "statefulsets" : "xpoddisruptionbudgets";
		await client.send("POST", `/apis/${object.apiVersion}/namespaces/default/${plural}`, object);
	}
}
