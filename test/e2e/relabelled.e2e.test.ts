// Tests pods whose budget changes while they wait: after a failover, and when a member joins the fleet.
import { randomBytes } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { getJson, podsPath } from "./get-json.ts";
import { apply, eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { type PluginProcess, plugin, startPlugin } from "./plugin-process.ts";
import { removeNamespace } from "./remove-namespace.ts";

interface PodList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
		readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
	}[];
}

interface Member {
	readonly id: string;
	readonly name: string;
}

interface Declaration {
	readonly members: string;
	readonly forgotten?: string;
}

const [cluster, node] = ["c1", "c1-n0"];
const operator = `${cluster}-operator`;
const everyCluster = ["c1", "c2", "c3"];

/** Creates two pods on one node: first-0, which does not stop until the test lets it, and the replica pg-0, which is drained after it. */
async function createScene() {
	const namespace = `pg-${randomBytes(4).toString("hex")}`;
	const statefulSet = (name: string, labels: Readonly<Record<string, string>>, annotations = {}): object => ({
		apiVersion: "apps/v1",
		kind: "StatefulSet",
		metadata: { name, namespace },
		spec: {
			replicas: 1,
			serviceName: name,
			selector: { matchLabels: { app: name } },
			template: {
				metadata: { labels: { app: name, ...labels }, annotations },
				spec: {
					containers: [{ name, image: "example.com/pg:1" }],
					nodeSelector: { "kubernetes.io/hostname": node },
				},
			},
		},
	});
	await apply(everyCluster, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
	await apply(
		[cluster],
		[statefulSet("first", { step: "1" }, { "bench/stop": "hang" }), statefulSet("pg", { step: "2", role: "replica" })],
	);
	const pods = async () => (await getJson<PodList>(cluster, podsPath(namespace))).items;
	await eventually(`two ready pods in namespace ${namespace}`, async () => {
		const ready = (await pods()).filter(({ status }) =>
			status.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
		);
		return ready.length === 2;
	});
	const findPg = async () => (await pods()).find(({ metadata }) => metadata.name === "pg-0")?.metadata;
	const pg = await findPg();
	return {
		namespace,
		/** Whether pg-0 is still the original pod and is not being deleted. */
		isPgLeft: async (): Promise<boolean> => {
			const found = await findPg();
			return found !== undefined && found.uid === pg?.uid && found.deletionTimestamp === undefined;
		},
		letFirstStop: async (): Promise<void> =>
			void (await kubectl(cluster, ["annotate", "pod", "first-0", "-n", namespace, "bench/stop-"])),
		[Symbol.asyncDispose]: async (): Promise<void> => {
			await removeNamespace(everyCluster, namespace);
		},
	};
}

const primaryOnly = (namespace: string): object => ({
	apiVersion: "x-pdb.form3.tech/v1alpha1",
	kind: "XPodDisruptionBudget",
	metadata: { name: "pg-primary", namespace },
	spec: { selector: { matchLabels: { app: "pg", role: "primary" } }, maxUnavailable: 0 },
});

function startDrain(): PluginProcess {
	const only = ["--pod-selector", "app in (first, pg)", "--order-by", "step", "--ignore-daemonsets"];
	return startPlugin(["drain", node, "--context", operator, ...only]);
}

describeOnFleet("a pod that waits for its turn", () => {
	afterEach(uncordonAll);

	test("stays where it has become the primary of a budget that lets none go", async () => {
		await using scene = await createScene();
		const { namespace } = scene;
		await apply(everyCluster, [primaryOnly(namespace)]);
		using drain = startDrain();
		await drain.printed(`evicting pod ${namespace}/first-0`);
		await kubectl(cluster, ["label", "pod", "pg-0", "-n", namespace, "role=primary", "--overwrite"]);
		await scene.letFirstStop();
		await drain.printed(/\/pg-primary has no disruption left: 1( of \d+)? healthy, 1 required/);
		expect(await scene.isPgLeft()).toBe(true);
		// Back as a replica, it is covered by no budget.
		await kubectl(cluster, ["label", "pod", "pg-0", "-n", namespace, "role=replica", "--overwrite"]);
		const { code, stdout, stderr } = await drain.finished;
		expect(code, stderr).toBe(0);
		expect(stdout).toContain("pod/pg-0 evicted");
	});

	test("stays where a member that joins the fleet meanwhile has a budget for it", async () => {
		await using scene = await createScene();
		const { namespace } = scene;
		await using fleet = await splitFleet("c3");
		await apply(["c3"], [{ ...primaryOnly(namespace), spec: { selector: {}, maxUnavailable: 0 } }]);
		await eventually("a fleet of c1 and c2", async () => {
			const { stdout } = await plugin(["version", "--context", operator]);
			return /^c2 /m.test(stdout) && !/^c3 /m.test(stdout);
		});
		using drain = startDrain();
		await drain.printed(`evicting pod ${namespace}/first-0`);
		await fleet.join();
		await eventually("a fleet of all three, in each of them", async () => {
			const told = await Promise.all(
				everyCluster.map((context) => plugin(["version", "--context", `${context}-operator`])),
			);
			return told.every(({ stdout }) => everyCluster.every((member) => new RegExp(`^${member} `, "m").test(stdout)));
		});
		await scene.letFirstStop();
		await drain.printed("the fleet has changed: c3 was added; going on with c1, c2, c3");
		await drain.printed(new RegExp(`budget ${namespace}/pg-primary has no disruption left: .* 2 required`));
		expect(await scene.isPgLeft()).toBe(true);
		await kubectl("c3", ["delete", "xpdb", "pg-primary", "-n", namespace]);
		const { code, stdout, stderr } = await drain.finished;
		expect(code, stderr).toBe(0);
		expect(stdout).toContain("pod/pg-0 evicted");
	});
});

/** Splits the fleet into two that have forgotten each other: this cluster, and all others. */
async function splitFleet(alone: string): Promise<AsyncDisposable & { join(): Promise<void> }> {
	const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
	const read = async (context: string) => (await getJson<{ readonly data: Declaration }>(context, path)).data;
	const { contexts } = sharedFleet();
	const before = new Map(await Promise.all(contexts.map(async (context) => [context, await read(context)] as const)));
	const write = async (context: string, data: object): Promise<void> => {
		const patch = JSON.stringify({ data });
		await kubectl(context, ["patch", "configmap", "xpdb-fleet", "-n", "xpdb-system", "--type=merge", "-p", patch]);
	};
	const join = async (): Promise<void> => {
		const entries = [...before].map(([context, data]) =>
			write(context, { ...data, forgotten: data.forgotten ?? null }),
		);
		await Promise.all(entries);
	};
	await Promise.all(
		[...before].map(async ([context, { members }]) => {
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the test's own fleet was installed
			const all = parse(members) as readonly Member[];
			const isOurs = ({ name }: Member): boolean => (name === alone) === (context === alone);
			const forgotten = all.filter((member) => !isOurs(member)).map(({ id }) => ({ id }));
			await write(context, { members: JSON.stringify(all.filter(isOurs)), forgotten: JSON.stringify(forgotten) });
		}),
	);
	return { join, [Symbol.asyncDispose]: join };
}
