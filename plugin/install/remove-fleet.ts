// Removes an installation from one cluster: agents first, so that they write no more Leases, and the namespace after xpdb's other objects.
import { setTimeout as delay } from "node:timers/promises";
import type { V1Lease, V1Pod } from "@kubernetes/client-node";
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { isAgentLease } from "./agent-lease.ts";
import { type ClusterObject, objectText } from "./cluster-object.ts";
import { applyObject } from "./find-changes.ts";
import type { InstalledCluster } from "./find-installed.ts";
import { agentNamespaceLabel } from "./fleet-objects.ts";
import { installStep } from "./install-step.ts";
import { objectPath } from "./object-path.ts";

export interface Removal {
	readonly deleteBudgets: boolean;
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
	/** Called for each object when the API server has accepted its deletion. */
	readonly tell: (context: string, object: ClusterObject) => void;
}

const pollMs = 300;

/** Throws UsageError if a deletion is refused or not finished in time. */
export async function removeInstallation(cluster: InstalledCluster, removal: Removal): Promise<void> {
	const { context, objects, keptNamespace, definition } = cluster;
	const deadline = performance.now() + removal.timeoutMs;
	const until = async (what: string, isDone: () => Promise<boolean>): Promise<void> => {
		while (!(await isDone())) {
			if (performance.now() > deadline) {
				throw new UsageError(
					`${context.name}: ${what} is still there after ${Math.round(removal.timeoutMs / 1_000)} s`,
					"Run the same command to continue",
				);
			}
			await delay(pollMs, undefined, { signal: removal.signal });
		}
	};
	for (const object of objects.filter(({ kind }) => kind === "Deployment")) await remove(object);
	await until("a pod of the agents", async () => (await agentPods(context)).length === 0);
	for (const object of objects.filter(({ kind }) => kind !== "Deployment" && kind !== "Namespace"))
		await remove(object);
	// A load balancer's Service disappears only after its cloud has removed the load balancer.
	for (const service of objects.filter(({ kind }) => kind === "Service"))
		await until(objectText(service), async () => isGone(context, service));
	const { namespace } = context.agents;
	const elsewhere = cluster.fleet?.leaseNamespace ?? namespace;
	if (keptNamespace) {
		await removeLeases(namespace);
		await giveBack(keptNamespace);
	}
	if (elsewhere !== namespace) await removeLeases(elsewhere);
	for (const object of objects.filter(({ kind }) => kind === "Namespace")) {
		await remove(object);
		await until(objectText(object), async () => isGone(context, object));
	}
	if (removal.deleteBudgets && definition) {
		await remove(definition);
		await until(objectText(definition), async () => isGone(context, definition));
	}

	async function remove(object: ClusterObject): Promise<void> {
		removal.signal.throwIfAborted();
		await installStep(context, `delete ${objectText(object)}`, deleteOne(context, objectPath(object)));
		removal.tell(context.name, object);
	}

	/** Removes our settings from a namespace of others, whose users may run pods that these settings forbid. */
	async function giveBack({ apiVersion, kind, metadata }: ClusterObject): Promise<void> {
		// Our own namespace keeps our label, so that a later uninstall recognises it.
		if (metadata.labels?.[agentNamespaceLabel] !== undefined) return;
		removal.signal.throwIfAborted();
		const bare = { apiVersion, kind, metadata: { name: metadata.name } };
		const answer = applyObject(context, bare, { dryRun: false, force: false });
		await installStep(context, `take back what was written on ${objectText(bare)}`, answer);
	}

	/** An API server enforces a policy for about a second after its deletion, so refused deletions are tried again. */
	async function removeLeases(leaseNamespace: string): Promise<void> {
		const path = `/apis/coordination.k8s.io/v1/namespaces/${leaseNamespace}/leases`;
		await until("a Lease of the agents", async () => {
			const leases = await installStep(context, "list the agents' Leases", context.client.list<V1Lease>(path));
			const ours = leases.filter(({ metadata = {} }) => isAgentLease(metadata));
			for (const { metadata } of ours) {
				const name = metadata?.name ?? "";
				const deleted = deleteOne(context, `${path}/${name}`).catch((error: unknown) => {
					if (!(error instanceof ApiError) || error.code !== 422) throw error;
				});
				await installStep(context, `delete Lease ${name}`, deleted);
			}
			return ours.length === 0;
		});
	}
}

async function deleteOne({ client }: KubeContext, path: string): Promise<void> {
	try {
		await client.delete(path, { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" });
	} catch (error) {
		if (!isNotFound(error)) throw error;
	}
}

async function isGone(context: KubeContext, object: ClusterObject): Promise<boolean> {
	const answer = context.client.get(objectPath(object), { metadataOnly: "object" }).then(
		() => false,
		(error: unknown) => {
			if (isNotFound(error)) return true;
			throw error;
		},
	);
	return installStep(context, `look for ${objectText(object)}`, answer);
}

async function agentPods(context: KubeContext): Promise<readonly V1Pod[]> {
	const path = `/api/v1/namespaces/${context.agents.namespace}/pods`;
	const labelSelector = `${agentLabel}=${agentName}`;
	return installStep(context, "list the agents' pods", context.client.list<V1Pod>(path, { labelSelector }));
}
