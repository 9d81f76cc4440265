// The etcd of one cluster goes back to an older state: what its agents saw since then never was. They must not count by it.
import { expect, test } from "vitest";
import { createAdminClient, type KnownCluster } from "../../controlplane/admin-client.ts";
import { snapshotEtcd } from "../../controlplane/etcd-snapshot.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl, recoverAgents } from "../agents.ts";
import { createDatabase } from "../database.ts";
import { getJson, leasesPath, podsPath } from "../get-json.ts";
import { inTheAgentsName, kubectl } from "../kubectl.ts";
import { plugin, startPlugin } from "../plugin-process.ts";
import { startApiProxies } from "./api-proxies.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs, reservationLimitMs } from "./rolling-evictions.ts";

/** More than controllers write while they start: the versions after the restore are to be ones that were there before. */
const writes = 1_500;

interface LeaseList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
	}[];
}

const stateAnnotation = "xpdb.form3.tech/state";

async function writeVersions(cluster: KnownCluster): Promise<void> {
	const api = createAdminClient(cluster);
	const path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
	await Promise.all(
		Array.from({ length: 8 }, async (_, lane) => {
			for (let count = lane; count < writes; count += 8) {
				await api.send("PATCH", path, { data: { count: String(count) } }, "application/merge-patch+json");
			}
		}),
	);
	api.close();
}

/** The Lease of the only budget of a namespace, as it stands in c1. */
async function leaseOf(namespace: string): Promise<{ readonly name: string; readonly state: { observed: string } }> {
	const selector = `xpdb.form3.tech/budget-namespace=${namespace}`;
	const [lease] = (await getJson<LeaseList>("c1", leasesPath(selector))).items;
	if (!lease) throw new Error(`There is no Lease of a budget in namespace ${namespace}`);
	const { name, annotations } = lease.metadata;
	return { name, state: JSON.parse(annotations[stateAnnotation] ?? "") as { observed: string } };
}

async function podsVersion(): Promise<number> {
	const list = await getJson<{ readonly metadata: { readonly resourceVersion: string } }>("c1", podsPath("default"));
	return Number(list.metadata.resourceVersion);
}

describeOnFleet("an etcd restored from an older snapshot", () => {
	test("counts by what is there now, and evictions go on", async () => {
		const cluster = sharedFleet().clusters.find(({ name }) => name === "c1");
		if (!cluster) throw new Error("There is no cluster c1");
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using gone = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const evict = (context: string, { namespace } = database) =>
			plugin(["evict", "db-0", "-n", namespace, "--context", `${context}-operator`, "--timeout", "12s"]);
		const annotate = (annotation: string) =>
			kubectl("c1", ["annotate", "pod", "db-0", "-n", database.namespace, annotation]);
		expect((await evict("c2")).code).toBe(0);
		await database.ready();

		const restore = await snapshotEtcd(fleetControl(), cluster);
		// From here on c1 will not remember: a pod evicted and replaced, Leases written, many versions.
		expect((await evict("c1", gone)).code).toBe(0);
		await writeVersions(cluster);
		await restore();
		const restoredAt = performance.now();

		await annotate("bench/ready=false");
		await kubectl("c1", ["wait", "pod/db-0", "-n", database.namespace, "--for=condition=Ready=false", "--timeout=60s"]);
		const refused = await evict("c2");
		expect(refused.code, refused.stdout).not.toBe(0);
		expect(refused.stderr).toMatch(/needs 2 healthy, has 2/);
		await annotate("bench/ready-");
		await database.ready();
		const granted = await evict("c2");
		expect(granted.code, granted.stdout + granted.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
		expect(performance.now() - restoredAt).toBeLessThan(2 * leaseLimitMs);
		const again = await evict("c1", gone);
		expect(again.code, again.stdout + again.stderr).toBe(0);
		expect(await findLeftBehind()).toEqual([]);
	});

	test("while watches are in back-off: nothing of before is believed, and nothing of it blocks a namespace", async () => {
		const cluster = sharedFleet().clusters.find(({ name }) => name === "c1");
		if (!cluster) throw new Error("There is no cluster c1");
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using granted = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const args = (context: string, { namespace } = database) =>
			["evict", "db-0", "-n", namespace, "--context", `${context}-operator`] as const;
		const evict = (context: string, within = "12s", from = database) =>
			plugin([...args(context, from), "--timeout", within]);
		expect((await evict("c2")).code).toBe(0);
		await database.ready();
		using asleep = startPlugin([...args("c1", granted), "--timeout", "60s"], { XPDB_PAUSE_POINT: "after-commit" });
		await asleep.asleep();

		const restore = await snapshotEtcd(fleetControl(), cluster);
		asleep.child.kill("SIGCONT");
		expect((await asleep.finished).code).toBe(0);
		await granted.ready();
		// The next round ends the reservation: its pod is gone, as the agents have seen.
		expect((await evict("c2", "12s", granted)).code).toBe(0);
		await granted.ready();
		await writeVersions(cluster);
		const before = await podsVersion();
		await using proxies = await startApiProxies((name) => `${name}->${name}`);
		const proxy = proxies.byCluster.get("c1");
		if (!proxy) throw new Error("There is no proxy before c1");
		proxy.onCall = ({ kind }) => (kind.startsWith("WATCH ") ? 503 : undefined);
		await restore();
		expect(await podsVersion()).toBeLessThan(before);

		// As an agent leaves it that has written once more by what its watch had shown.
		const { name, state } = await leaseOf(database.namespace);
		const written = `${stateAnnotation}=${JSON.stringify({ ...state, observed: String(before) })}`;
		const annotate = ["annotate", "lease", name, "-n", "xpdb-system", "--overwrite", ...inTheAgentsName];
		await kubectl("c1", [...annotate, written]);
		// What the watches had shown is dropped, and nothing else is there yet to count by.
		const closed = await evict("c2", "5s");
		expect(closed.code, closed.stdout).not.toBe(0);
		expect(closed.stderr).toContain("cluster c1 gives no answer");

		proxy.onCall = () => undefined;
		await recoverAgents();
		// The pod of that reservation is back, and nobody has taken its end from a view of before.
		const held = await evict("c2", "5s", granted);
		expect(held.code, held.stdout).not.toBe(0);
		expect(held.stderr).toMatch(/needs 2 healthy, has 2/);
		const startedAt = performance.now();
		const going = await evict("c2", "60s");
		expect(going.code, going.stdout + going.stderr).toBe(0);
		expect(performance.now() - startedAt).toBeLessThan(leaseLimitMs);
		expect(Number((await leaseOf(database.namespace)).state.observed)).toBeLessThan(before);
		const released = await evict("c2", `${(2 * reservationLimitMs) / 1_000}s`, granted);
		expect(released.code, released.stdout + released.stderr).toBe(0);
		await granted.ready();
		expect(Number((await leaseOf(granted.namespace)).state.observed)).toBeLessThan(before);
		expect(await findLeftBehind()).toEqual([]);
	});
});
