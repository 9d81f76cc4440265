// Evicts pods whose annotations change all the time, under a PodDisruptionBudget.
// An eviction with an outdated version gets a 409, which Kubernetes counts as a disruption for two minutes.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type AuditEvent, readTimeline } from "../../../demo/audit/audit.ts";
import { isStatus } from "../../../demo/machine/api-client.ts";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createDatabase, type Pod } from "../database.ts";
import { apply } from "../kubectl.ts";
import { plugin } from "../plugin-process.ts";

const replicas = 3;
const changeEveryMs = 200;
/**
 * An eviction can conflict by chance, because the API server checks the version up to 100 ms after the eviction arrives. If one in ten
 * conflicts, more than six of nine do so in less than one of a thousand runs. If evictions ignored changes, most would conflict.
 */
const mayBeLate = 6;
/** If the pod's version was outdated for longer when the eviction arrived, the machine was too busy. Such conflicts do not count. */
const promptMicroseconds = (changeEveryMs / 4) * 1_000;

describeOnFleet("pods that change five times a second under a native budget", () => {
	test("are evicted, and their budget is not used up by evictions that come too late", async () => {
		const { contexts } = sharedFleet();
		await using database = await createDatabase({ replicas, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "db", namespace } };
		await apply(contexts, [
			{ ...budget, spec: { maxUnavailable: replicas, selector: { matchLabels: { app: "db" } } } },
		]);
		await using _ = keepChanging(await database.pods(), namespace);
		const operators = contexts.map((context) => `${context}-operator`).join(",");
		const args = ["evict", "-l", "app=db", "-n", namespace, "--contexts", operators, "-y", "--timeout", "240s"];
		const result = await plugin(args);
		expect(result.code, result.stdout + result.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
		const events = (await readTimeline(sharedFleet().clusters, { containing: namespace })).filter(
			(event) => event.namespace === namespace,
		);
		const evictions = events.filter(({ resource }) => resource === "pods/eviction");
		expect(evictions.filter(({ code }) => code === 201)).toHaveLength(replicas * contexts.length);
		const conflicts = evictions.filter(({ code }) => code === 409);
		expect(conflicts.filter((conflict) => isPrompt(conflict, events)).length).toBeLessThanOrEqual(mayBeLate);
	});
});

/**
 * Whether the pod had the eviction's version until just before the eviction. Also true if the log does not show when the version changed.
 */
function isPrompt({ cluster, name, request, receivedAt }: AuditEvent, events: readonly AuditEvent[]): boolean {
	const version = request?.deleteOptions?.preconditions?.resourceVersion;
	const writes = events.filter((event) => event.cluster === cluster && event.name === name && event.code === 200);
	const at = writes.findIndex(({ response }) => response?.metadata?.resourceVersion === version);
	const next = at === -1 ? undefined : writes[at + 1];
	return next === undefined || receivedAt - next.completedAt < promptMicroseconds;
}

/** Changes the pods until they are gone, and leaves their replacements alone. */
function keepChanging(pods: readonly Pod[], namespace: string): AsyncDisposable {
	const clients = new Map(sharedFleet().clusters.map((cluster) => [cluster.name, createAdminClient(cluster)]));
	const over = new AbortController();
	const lanes = pods.map(async ({ context, name, uid }) => {
		const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
		for (let beat = 0; !over.signal.aborted; beat += 1) {
			const patch = { metadata: { uid, annotations: { "example.com/heartbeat": String(beat) } } };
			const next = delay(changeEveryMs);
			try {
				await clients.get(context)?.send("PATCH", path, patch, "application/merge-patch+json");
			} catch (error) {
				if (isStatus(error, 404) || isStatus(error, 409) || isStatus(error, 422)) return;
				throw error;
			}
			await next;
		}
	});
	return {
		async [Symbol.asyncDispose]() {
			over.abort();
			await Promise.all(lanes);
			for (const client of clients.values()) client.close();
		},
	};
}
