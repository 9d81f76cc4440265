// Tests evictions of pods for which no scale gives the expected number.
import { expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { applyBudget } from "./database.ts";
import { getJson, podsPath } from "./get-json.ts";
import { apply, eventually, kubectl } from "./kubectl.ts";
import { plugin } from "./plugin-process.ts";
import { removeNamespace } from "./remove-namespace.ts";

interface Pods {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
		readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
	}[];
}

const contexts = ["c1", "c2", "c3"];
const labels = { app: "db" };
const containers = [{ name: "db", image: "example.com/db:1" }];

async function namespaceOf(name: string): Promise<AsyncDisposable & { readonly name: string }> {
	await apply(contexts, [{ apiVersion: "v1", kind: "Namespace", metadata: { name } }]);
	return { name, [Symbol.asyncDispose]: async () => removeNamespace(contexts, name) };
}

async function readyPods(context: string, namespace: string) {
	const { items } = await getJson<Pods>(context, podsPath(namespace));
	return items.filter(
		({ metadata, status }) =>
			metadata.deletionTimestamp === undefined &&
			status.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
	);
}

const evict = (pod: string, namespace: string, timeout = "120s") =>
	plugin(["evict", pod, "-n", namespace, "--context", "c1-operator", "--timeout", timeout]);

describeOnFleet("pods whose number no scale says", () => {
	test.concurrent("a DaemonSet's pod that is gone and not yet back is expected: no second one goes", async () => {
		await using namespace = await namespaceOf(`daemons-${Date.now().toString(36)}`);
		const metadata = { name: "db", namespace: namespace.name };
		await apply(contexts, [
			{
				apiVersion: "apps/v1",
				kind: "DaemonSet",
				metadata,
				spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
			},
		]);
		await applyBudget(contexts, namespace.name, { maxUnavailable: 1 });
		await eventually("every node to have its pod", async () => {
			interface DaemonSet {
				readonly status: { readonly desiredNumberScheduled: number };
			}
			const path = `/apis/apps/v1/namespaces/${namespace.name}/daemonsets/db`;
			const sets = await Promise.all(contexts.map((context) => getJson<DaemonSet>(context, path)));
			const pods = await Promise.all(contexts.map((context) => readyPods(context, namespace.name)));
			return sets.every(({ status }, index) => {
				const wanted = status.desiredNumberScheduled;
				return wanted > 1 && pods[index]?.length === wanted;
			});
		});
		// Pod Security now rejects every new pod.
		const label = "pod-security.kubernetes.io/enforce=restricted";
		await kubectl("c1", ["label", "namespace", namespace.name, label]);
		const pods = await readyPods("c1", namespace.name);
		const [first, second] = pods;
		const gone = await evict(first?.metadata.name ?? "", namespace.name);
		expect(gone.code, gone.stderr).toBe(0);
		await eventually("the pod to be gone", async () => {
			const { items } = await getJson<Pods>("c1", podsPath(namespace.name));
			return items.length === pods.length - 1;
		});
		const next = await evict(second?.metadata.name ?? "", namespace.name, "15s");
		expect(next.code).not.toBe(0);
		expect(next.stdout + next.stderr).toMatch(/budget \S+\/db has no disruption left: 8 of 9 healthy, 8 required/);
		expect(await readyPods("c1", namespace.name)).toHaveLength(pods.length - 1);
	});

	test.concurrent("pods that nobody controls wait, say why, and go under minAvailable as a number", async () => {
		await using namespace = await namespaceOf(`bare-${Date.now().toString(36)}`);
		await apply(
			["c1"],
			["db-0", "db-1"].map((name) => ({
				apiVersion: "v1",
				kind: "Pod",
				metadata: { name, namespace: namespace.name, labels },
				spec: { containers },
			})),
		);
		await applyBudget(contexts, namespace.name, { maxUnavailable: 1 });
		await eventually("both pods to be ready", async () => (await readyPods("c1", namespace.name)).length === 2);
		const kept = await evict("db-0", namespace.name, "15s");
		expect(kept.code).not.toBe(0);
		expect(kept.stdout + kept.stderr).toMatch(/no controller owns it.*minAvailable as a number/s);
		expect(await readyPods("c1", namespace.name)).toHaveLength(2);
		await Promise.all(contexts.map((context) => kubectl(context, ["delete", "xpdb", "db", "-n", namespace.name])));
		await applyBudget(contexts, namespace.name, { minAvailable: 1 });
		const gone = await evict("db-0", namespace.name);
		expect(gone.code, gone.stderr).toBe(0);
	});

	test.concurrent("a custom resource that does not say how many pods it wants is named, and hides nothing else", async () => {
		await using namespace = await namespaceOf(`clones-${Date.now().toString(36)}`);
		const group = "kruise.test.example";
		const metadata = { name: "noreplicas", namespace: namespace.name };
		const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
		const definition = {
			apiVersion: "apiextensions.k8s.io/v1",
			kind: "CustomResourceDefinition",
			metadata: { name: `clonesets.${group}` },
			spec: {
				group,
				scope: "Namespaced",
				names: { plural: "clonesets", singular: "cloneset", kind: "CloneSet", listKind: "CloneSetList" },
				versions: [
					{
						name: "v1beta1",
						served: true,
						storage: true,
						schema: { openAPIV3Schema: open },
						subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
					},
				],
			},
		};
		await apply(["c1"], [definition]);
		await kubectl("c1", ["wait", "--for=condition=Established", `crd/clonesets.${group}`]);
		await apply(["c1"], [{ apiVersion: `${group}/v1beta1`, kind: "CloneSet", metadata, spec: {} }]);
		const path = `/apis/${group}/v1beta1/namespaces/${namespace.name}/clonesets/noreplicas`;
		const { uid } = (await getJson<{ readonly metadata: { readonly uid: string } }>("c1", path)).metadata;
		const owner = { apiVersion: `${group}/v1beta1`, kind: "CloneSet", name: "noreplicas", uid, controller: true };
		const pod = (name: string, more: object) => ({
			apiVersion: "v1",
			kind: "Pod",
			metadata: { name, namespace: namespace.name, ...more },
			spec: { containers, nodeName: "c1-n0" },
		});
		await apply(
			["c1"],
			[pod("clone-0", { labels, ownerReferences: [owner] }), pod("other", { labels: { app: "other" } })],
		);
		await applyBudget(contexts, namespace.name, { maxUnavailable: 1 });
		await eventually("both pods to be ready", async () => (await readyPods("c1", namespace.name)).length === 2);
		const why = 'CloneSet "\\S+/noreplicas" does not say how many pods it wants: its \\.spec\\.replicas is not set';
		const kept = await evict("clone-0", namespace.name, "15s");
		expect(kept.code).toBe(1);
		expect(kept.stdout + kept.stderr).toMatch(new RegExp(why));
		expect(kept.stdout + kept.stderr).not.toContain("gives no answer");
		const args = ["c1-n0", "--context", "c1-operator", "--ignore-daemonsets", "--force", "--pod-selector=app"];
		const plan = await plugin(["plan", ...args, "-o", "json"]);
		const { pods, impossible } = JSON.parse(plan.stdout) as Record<
			"pods" | "impossible",
			readonly { readonly namespace: string; readonly pod: string; readonly reason: string; readonly message: string }[]
		>;
		const ofNamespace = (list: typeof pods) => list.filter((each) => each.namespace === namespace.name);
		expect(ofNamespace(pods).map((each) => each.pod)).toEqual(["other"]);
		expect(ofNamespace(impossible)).toMatchObject([
			{ pod: "clone-0", reason: "ExpectedPodsUnknown", message: expect.stringMatching(new RegExp(why)) },
		]);
	});
});
