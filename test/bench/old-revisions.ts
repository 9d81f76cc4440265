// Creates Deployments with ten old ReplicaSets each, without pods. The controllers must be frozen (fillCluster), because they would delete
// the ReplicaSets. All objects but the first are copied inside etcd, which takes seconds for 20,000 ReplicaSets instead of minutes.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { askEtcd } from "../controlplane/etcd-gateway.ts";

/** The default revisionHistoryLimit of a Deployment. */
const revisions = 10;
/** By default, etcd accepts at most 128 operations in one transaction. */
const writesAtOnce = 100;
const servedWithinMs = 30_000;
/** Makes each ReplicaSet 4 KB, 2.5 KB of which are metadata: managedFields name each variable. */
const env = Array.from({ length: 20 }, (_, number) => ({
	name: `SETTING_${number}`,
	value: `http://example.com/${number}`,
}));

interface Created {
	readonly metadata: { readonly name: string; readonly uid: string };
}

/** Creates the Deployments numbered from `from` up to but not including `to`. */
export async function createOldRevisions(
	{ client, server }: RunningCluster,
	namespace: string,
	{ from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
	const first = await createFirst(client, namespace, nameOf(from));
	const stored = (plural: string, name: string): string => `/registry/${plural}/${namespace}/${name}`;
	const deployment = await valueOf(server, stored("deployments", first.deployment.name));
	const replicaSet = await valueOf(server, stored("replicasets", first.replicaSet.name));
	const puts: object[] = [];
	for (let number = from; number < to; number += 1) {
		// The stored encoding contains lengths, so names and uids must be as long as those of the first objects.
		const app = nameOf(number);
		const uid = number === from ? first.deployment.uid : randomUUID();
		const renamed = (value: string): string =>
			value.replaceAll(first.deployment.name, app).replaceAll(first.deployment.uid, uid);
		if (number > from) puts.push(putOf(stored("deployments", app), renamed(deployment)));
		for (let revision = number === from ? 1 : 0; revision < revisions; revision += 1) {
			const name = revisionOf(app, revision);
			const value = replicaSet.replaceAll(first.replicaSet.name, revisionOf(first.deployment.name, revision));
			puts.push(putOf(stored("replicasets", name), renamed(value).replaceAll(first.replicaSet.uid, randomUUID())));
		}
	}
	for (let done = 0; done < puts.length; done += writesAtOnce) {
		await askEtcd(server, "txn", { success: puts.slice(done, done + writesAtOnce) });
	}
	await untilServed(client, namespace, to * revisions);
}

async function createFirst(client: ApiClient, namespace: string, app: string) {
	const path = `/apis/apps/v1/namespaces/${namespace}`;
	const name = revisionOf(app, 0);
	const { metadata: deployment } = await client.send<Created>("POST", `${path}/deployments`, {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: { name: app, namespace },
		spec: specOf({ app }),
	});
	const owner = { apiVersion: "apps/v1", kind: "Deployment", name: app, uid: deployment.uid };
	const labels = { app, "pod-template-hash": name };
	const { metadata: replicaSet } = await client.send<Created>("POST", `${path}/replicasets`, {
		apiVersion: "apps/v1",
		kind: "ReplicaSet",
		metadata: {
			name,
			namespace,
			labels,
			annotations: { "deployment.kubernetes.io/revision": "1" },
			ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
		},
		spec: specOf(labels),
	});
	return { deployment, replicaSet };
}

function specOf(labels: Readonly<Record<string, string>>): object {
	const containers = [{ name: "web", image: "example.com/web:1", env }];
	return { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
}

function nameOf(deployment: number): string {
	return `app-${String(deployment).padStart(4, "0")}`;
}

function revisionOf(app: string, revision: number): string {
	return `${app}-${revision}`;
}

/** Returns the stored bytes, each as one character. */
async function valueOf(server: string, key: string): Promise<string> {
	const { kvs } = (await askEtcd(server, "range", { key: base64(key) })) as { kvs?: readonly { value: string }[] };
	const [found] = kvs ?? [];
	if (!found) throw new Error(`etcd has no ${key}`);
	return Buffer.from(found.value, "base64").toString("latin1");
}

function putOf(key: string, value: string): object {
	return { requestPut: { key: base64(key), value: base64(value) } };
}

function base64(bytes: string): string {
	return Buffer.from(bytes, "latin1").toString("base64");
}

async function untilServed(client: ApiClient, namespace: string, replicaSets: number): Promise<void> {
	const until = performance.now() + servedWithinMs;
	for (;;) {
		const path = `/apis/apps/v1/namespaces/${namespace}/replicasets?limit=1`;
		const { metadata } = await client.get<{ metadata: { remainingItemCount?: number } }>(path);
		if ((metadata.remainingItemCount ?? 0) >= replicaSets - 1) return;
		if (performance.now() > until) throw new Error(`the API server does not serve ${replicaSets} ReplicaSets`);
		await delay(250);
	}
}
