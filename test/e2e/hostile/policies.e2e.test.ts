// Tests what the shipped policies refuse to a holder of the agents' token and to a cluster's administrator, and what they allow.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, isStatus, strategicMergePatch } from "../../../demo/machine/api-client.ts";
import { createAdminClient, inTheAgentsName } from "../../controlplane/admin-client.ts";
import { startFleet } from "../../controlplane/fleet.ts";
import { describeOnFleet, oldestOfOwnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createDatabase, type Database } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { eventually } from "../kubectl.ts";
import { plugin } from "../plugin-process.ts";
import { createAgentClient } from "./agent-client.ts";

const leases = "/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases";
const mergePatch = "application/merge-patch+json";
const cancelled = {
	type: "xpdb.form3.tech/ReservationCancelled",
	status: "True",
	reason: "ReservationCancelled",
	message: "a value",
	lastTransitionTime: "2026-01-01T00:00:00Z",
};

interface PodObject {
	readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly deletionTimestamp?: string };
	readonly status: { readonly conditions: readonly { readonly type: string; readonly message?: string }[] };
}

// With mixed-setup.ts, c3 runs the oldest supported Kubernetes and c1 the newest.
describeOnFleet("policies", () => {
	describe.each(["c1", "c3"])("in %s", (clusterName) => {
		let database: Database;
		let agent: ApiClient;
		let admin: ApiClient;
		beforeAll(async () => {
			const cluster = sharedFleet().clusters.find(({ name }) => name === clusterName);
			if (!cluster) throw new Error("There is no cluster");
			admin = createAdminClient(cluster);
			agent = await createAgentClient(cluster);
			database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		});
		afterAll(async () => {
			await database[Symbol.asyncDispose]();
			agent.close();
			admin.close();
		});

		test("the API server's type checker has nothing to say about them", async () => {
			interface Policy {
				readonly metadata: { readonly name: string; readonly generation: number };
				readonly status: { readonly observedGeneration?: number; readonly typeChecking?: object };
			}
			const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
			await eventually("policies that were checked", async () => {
				const { items } = await admin.get<{ items: Policy[] }>(path);
				const ours = items.filter(({ metadata }) => metadata.name.startsWith("xpdb-"));
				if (ours.some(({ metadata, status }) => status.observedGeneration !== metadata.generation)) return false;
				expect(ours.map(({ status }) => status.typeChecking)).toEqual([{}, {}]);
				return true;
			});
		});

		describe("on pods", () => {
			const podPath = () => `/api/v1/namespaces/${database.namespace}/pods/db-0`;
			const touch = (client: ApiClient, message: string, path = podPath()) =>
				client.send<PodObject>(
					"PATCH",
					`${path}/status`,
					{ status: { conditions: [{ ...cancelled, message }] } },
					strategicMergePatch,
				);

			test("an agent touches a pod again and again, and marks it", async () => {
				for (const message of ["once", "twice"]) {
					const { status } = await touch(agent, message);
					expect(status.conditions).toContainEqual(expect.objectContaining({ type: cancelled.type, message }));
				}
				const annotations = { "xpdb.form3.tech/has-pending-disruption": "true" };
				const marked = await agent.send<PodObject>(
					"PATCH",
					`${podPath()}/status`,
					{ metadata: { annotations } },
					mergePatch,
				);
				expect(marked.metadata).toMatchObject({ annotations });
				expect(await touch(agent, "thrice")).toMatchObject({ metadata: { annotations } });
			});

			test("an agent touches and marks a pod with thousands of annotations, and touches it while it is terminating", async () => {
				const name = "crowded";
				const pods = `/api/v1/namespaces/${database.namespace}/pods`;
				const names = Array.from({ length: 5_000 }, (_, number) => `a${number}`);
				await admin.send("POST", pods, {
					metadata: {
						name,
						annotations: Object.fromEntries(names.map((each) => [each, ""])),
						finalizers: ["example.com/stays"],
					},
					spec: { schedulerName: "nobody", containers: [{ name: "main", image: "none" }] },
				});
				const path = `${pods}/${name}`;
				try {
					await touch(agent, "crowded", path);
					const annotations = { "xpdb.form3.tech/has-pending-disruption": "true" };
					await agent.send("PATCH", `${path}/status`, { metadata: { annotations } }, mergePatch);
					await admin.send("DELETE", path);
					const { metadata, status } = await touch(agent, "terminating", path);
					expect(metadata.deletionTimestamp).toBeDefined();
					expect(status.conditions).toContainEqual(expect.objectContaining({ message: "terminating" }));
				} finally {
					await admin.send("PATCH", path, { metadata: { finalizers: null } }, mergePatch);
				}
			});

			const patches: readonly { readonly name: string; readonly patch: object; readonly says: RegExp }[] = [
				{ name: "a new label", patch: { metadata: { labels: { free: "yes" } } }, says: /metadata/ },
				{
					name: "the label that its budget selects",
					patch: { metadata: { labels: { app: "none" } } },
					says: /metadata/,
				},
				{ name: "no labels any more", patch: { metadata: { labels: null } }, says: /metadata/ },
				{ name: "a finalizer", patch: { metadata: { finalizers: ["example.com/stays"] } }, says: /metadata/ },
				{ name: "another annotation", patch: { metadata: { annotations: { other: "x" } } }, says: /annotation/ },
				{
					name: "another annotation beside its own",
					patch: { metadata: { annotations: { other: "x", "xpdb.form3.tech/has-pending-disruption": "true" } } },
					says: /annotation/,
				},
				{ name: "Ready", patch: { status: { conditions: [{ type: "Ready", status: "False" }] } }, says: /condition/ },
				{
					name: "Ready beside its own condition",
					patch: { status: { conditions: [{ type: "Ready", status: "False" }, cancelled] } },
					says: /condition/,
				},
				{
					name: "a condition that was not there",
					patch: { status: { conditions: [{ type: "example.com/Other", status: "True" }] } },
					says: /condition/,
				},
				{ name: "the phase", patch: { status: { phase: "Failed" } }, says: /status/ },
				{ name: "a message", patch: { status: { message: "x" } }, says: /status/ },
				{ name: "the address", patch: { status: { podIP: null, podIPs: null } }, says: /status/ },
			];
			for (const { name, patch, says } of patches) {
				test(`an agent cannot change ${name}, and nothing is changed`, async () => {
					const before = await admin.get<PodObject>(podPath());
					await expect(agent.send("PATCH", `${podPath()}/status`, patch, strategicMergePatch)).rejects.toThrow(says);
					expect((await admin.get<PodObject>(podPath())).metadata).toEqual(before.metadata);
				});
			}

			test("two conditions of its own are one too many", async () => {
				const { status } = await admin.get<PodObject>(podPath());
				const others = status.conditions.filter(({ type }) => type !== cancelled.type);
				const conditions = [...others, cancelled, { ...cancelled, message: "another" }];
				await expect(
					agent.send("PATCH", `${podPath()}/status`, { status: { conditions } }, mergePatch),
				).rejects.toThrow(/condition/);
			});

			test("whoever else may write the status of pods still may", async () => {
				const patch = { metadata: { labels: { mine: "yes" } } };
				const changed = await admin.send<PodObject>("PATCH", `${podPath()}/status`, patch, strategicMergePatch);
				expect(changed.metadata).toMatchObject({ labels: { mine: "yes" } });
			});
		});

		describe("on the agents' Leases", () => {
			const refusal =
				/ValidatingAdmissionPolicy 'xpdb-leases'.*written by its agents alone.*delete the ValidatingAdmissionPolicyBinding/;
			const label = "xpdb.form3.tech/budget-namespace";
			const ownLease = async () => {
				const selector = encodeURIComponent(`${label}=${database.namespace}`);
				type Lease = {
					readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly labels: object };
				};
				const { items } = await admin.get<{ items: Lease[] }>(`${leases}?labelSelector=${selector}`);
				expect(items).toHaveLength(1);
				return items[0] as Lease;
			};
			const evict = async () => {
				await database.ready();
				return plugin(evictArgs(database, { name: "db-0", context: clusterName }, "--timeout", "2m"));
			};

			beforeAll(async () => {
				// The eviction creates the Lease.
				const { code, stderr } = await evict();
				if (code !== 0) throw new Error(stderr);
			});

			test("an administrator neither makes, changes nor deletes one, and the agents go on", async () => {
				const { metadata } = await ownLease();
				const path = `${leases}/${metadata.name}`;
				const created = { metadata: { name: `xpdb-${"0".repeat(40)}` }, spec: {} };
				await expect(admin.send("POST", leases, created)).rejects.toThrow(refusal);
				const known = { metadata: { name: "xpdb-known-members" }, spec: {} };
				await expect(admin.send("POST", leases, known)).rejects.toThrow(refusal);
				const labelled = { metadata: { name: "other", labels: { [label]: database.namespace } }, spec: {} };
				await expect(admin.send("POST", leases, labelled)).rejects.toThrow(refusal);
				const taken = { spec: { holderIdentity: "a thief" } };
				await expect(admin.send("PATCH", path, taken, mergePatch)).rejects.toThrow(refusal);
				const unlabelled = { metadata: { labels: { [label]: null } } };
				await expect(admin.send("PATCH", path, unlabelled, mergePatch)).rejects.toThrow(refusal);
				await expect(admin.send("DELETE", path)).rejects.toThrow(refusal);
				await expect(admin.send("DELETE", leases)).rejects.toThrow(refusal);
				const after = await ownLease();
				expect(after.metadata.labels).toEqual(metadata.labels);
				const { code, stderr } = await evict();
				expect(code, stderr).toBe(0);
			});

			test("a tenant, an operator and other accounts are refused too, even with every right in the namespace", async () => {
				const path = `${leases}/${(await ownLease()).metadata.name}`;
				const cluster = sharedFleet().clusters.find(({ name }) => name === clusterName);
				if (!cluster) throw new Error("There is no cluster");
				for (const user of [
					"alice",
					`system:serviceaccount:${database.namespace}:xpdb-agent`,
					"system:serviceaccount:xpdb-system:xpdb-operator",
					"system:serviceaccount:kube-system:namespace-controller",
					"system:serviceaccount:kube-system:generic-garbage-collector",
				]) {
					const client = createAdminClient(cluster, { user, groups: ["system:masters"] });
					await expect(client.send("DELETE", path), user).rejects.toThrow(refusal);
					client.close();
				}
			});

			test("one that is somebody else's is theirs, until they make it the agents'", async () => {
				const path = `${leases}/somebody-elses`;
				await admin.send("POST", leases, { metadata: { name: "somebody-elses" }, spec: {} });
				try {
					await admin.send("PATCH", path, { spec: { holderIdentity: "me" } }, mergePatch);
					const labelled = { metadata: { labels: { [label]: database.namespace } } };
					await expect(admin.send("PATCH", path, labelled, mergePatch)).rejects.toThrow(refusal);
				} finally {
					await admin.send("DELETE", path);
				}
			});
		});
	});
});

describeOnFleet("policies and the end of the namespace", () => {
	test("kubectl delete namespace xpdb-system ends, with Leases in it", async () => {
		const dir = mkdtempSync(join(tmpdir(), "xpdb-e2e-policies-"));
		const fleet = await startFleet({ clusters: 1, nodes: 1, dir, oldest: oldestOfOwnFleet(1) });
		try {
			const [cluster] = fleet.clusters;
			if (!cluster) throw new Error("There is no cluster");
			const agent = createAdminClient(cluster, inTheAgentsName);
			const labels = { "xpdb.form3.tech/budget-namespace": "default" };
			await agent.send("POST", leases, { metadata: { name: `xpdb-${"0".repeat(40)}`, labels }, spec: {} });
			agent.close();
			await expect(cluster.client.send("DELETE", leases)).rejects.toThrow(/written by its agents alone/);
			await cluster.client.send("DELETE", "/api/v1/namespaces/xpdb-system");
			await eventually("the end of namespace xpdb-system", async () => {
				try {
					await cluster.client.get("/api/v1/namespaces/xpdb-system");
					return false;
				} catch (error) {
					if (isStatus(error, 404)) return true;
					throw error;
				}
			});
		} finally {
			await fleet.stop();
			rmSync(dir, { recursive: true, force: true });
		}
	});
});
