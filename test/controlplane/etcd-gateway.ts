// Calls etcd directly, without the API server: for states that no request can create, and for many writes in little time.
import type { KnownCluster } from "./admin-client.ts";

/** Calls etcd's JSON gateway, for example "range", "put", "txn" or "compaction". */
export async function askEtcd(server: string, call: string, body: object): Promise<unknown> {
	const response = await fetch(`http://${new URL(server).hostname}:2379/v3/kv/${call}`, {
		method: "POST",
		body: JSON.stringify(body),
	});
	if (!response.ok) throw new Error(`etcd: ${await response.text()}`);
	return response.json();
}

export interface StoredBudget {
	readonly namespace: string;
	readonly name: string;
	readonly spec?: unknown;
}

/** Stores a budget that today's CRD would reject. An earlier CRD, or x-pdb's own, may have accepted it. */
export async function storeBudget({ server }: KnownCluster, { namespace, name, spec }: StoredBudget): Promise<void> {
	const object = {
		apiVersion: "x-pdb.form3.tech/v1alpha1",
		kind: "XPodDisruptionBudget",
		metadata: {
			name,
			namespace,
			uid: crypto.randomUUID(),
			generation: 1,
			creationTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
		},
		...(spec !== undefined && { spec }),
	};
	const base64 = (text: string) => Buffer.from(text).toString("base64");
	await askEtcd(server, "put", {
		key: base64(`/registry/x-pdb.form3.tech/xpoddisruptionbudgets/${namespace}/${name}`),
		value: base64(JSON.stringify(object)),
	});
}
