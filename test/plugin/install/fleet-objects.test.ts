import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { objectKey, objectText } from "../../../plugin/install/cluster-object.ts";
import {
	agentNamespaceLabel,
	type FleetSettings,
	fleetObjects,
	isFleetList,
} from "../../../plugin/install/fleet-objects.ts";

const folder = join(import.meta.dirname, "../../../agent/deploy");
const settings: FleetSettings = {
	agentNamespace: "xpdb-system",
	image: undefined,
	agents: {},
	members: [
		{ id: "1-eu", name: "eu", address: "eu.example.com:8444" },
		{ id: "2-us", name: "us" },
	],
	forgotten: [],
	operators: [],
	exposure: undefined,
	teams: [],
};

describe("fleetObjects()", () => {
	test("has every object that the kustomization has, and the fleet", () => {
		const { resources } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")) as { resources: string[] };
		const shipped = resources.flatMap((file) =>
			parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((document) => document.toJS()),
		);
		const found = fleetObjects(settings).filter((object) => !isFleetList(object));
		expect(found.map(objectKey).toSorted()).toEqual(shipped.map(objectKey).toSorted());
		for (const object of found) {
			const { labels: _, ...metadata } = object.metadata;
			const { labels: __, ...own } = shipped.find((each) => objectKey(each) === objectKey(object)).metadata;
			expect(metadata).toEqual(own);
		}
		expect(readdirSync(folder).toSorted()).toEqual(["fleet.yaml", "kustomization.yaml", ...resources].toSorted());
	});

	test("puts the kind of budgets first, then namespace, policies, rights, what agents read, and the agents last", () => {
		expect(fleetObjects(settings).map(objectText)).toMatchInlineSnapshot(`
			[
			  "customresourcedefinition.apiextensions.k8s.io/xpoddisruptionbudgets.x-pdb.form3.tech",
			  "namespace/xpdb-system",
			  "validatingadmissionpolicy.admissionregistration.k8s.io/xpdb-agent-pods",
			  "validatingadmissionpolicy.admissionregistration.k8s.io/xpdb-leases",
			  "validatingadmissionpolicybinding.admissionregistration.k8s.io/xpdb-agent-pods",
			  "validatingadmissionpolicybinding.admissionregistration.k8s.io/xpdb-leases",
			  "serviceaccount/xpdb-agent",
			  "serviceaccount/xpdb-operator",
			  "clusterrole.rbac.authorization.k8s.io/xpdb-agent",
			  "clusterrole.rbac.authorization.k8s.io/xpdb-operator",
			  "clusterrole.rbac.authorization.k8s.io/xpdb-operators",
			  "clusterrole.rbac.authorization.k8s.io/xpdb-suspenders",
			  "clusterrolebinding.rbac.authorization.k8s.io/xpdb-agent",
			  "clusterrolebinding.rbac.authorization.k8s.io/xpdb-operator",
			  "clusterrolebinding.rbac.authorization.k8s.io/xpdb-operators",
			  "clusterrolebinding.rbac.authorization.k8s.io/xpdb-suspenders",
			  "role.rbac.authorization.k8s.io/xpdb-agent",
			  "role.rbac.authorization.k8s.io/xpdb-operators",
			  "rolebinding.rbac.authorization.k8s.io/xpdb-agent",
			  "rolebinding.rbac.authorization.k8s.io/xpdb-operators",
			  "networkpolicy.networking.k8s.io/xpdb-agent",
			  "configmap/xpdb-fleet",
			  "service/xpdb-agent",
			  "poddisruptionbudget.policy/xpdb-agent",
			  "deployment.apps/xpdb-agent",
			]
		`);
	});

	test("lets Prometheus in from one namespace", () => {
		const sources = (changes: Partial<FleetSettings>) => {
			const policy = fleetObjects({ ...settings, ...changes }).find(({ kind }) => kind === "NetworkPolicy");
			if (!policy) throw new Error("There is no NetworkPolicy");
			const { ingress } = policy["spec"] as { ingress: { ports: { port: number }[]; from: object[] }[] };
			return ingress.flatMap(({ ports: [port], from }) => (port?.port === 8080 ? from : []));
		};
		const from = (namespace: string) => [
			{
				namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
				podSelector: { matchLabels: { "app.kubernetes.io/name": "prometheus" } },
			},
		];
		expect(sources({})).toEqual(from("monitoring"));
		expect(sources({ metricsNamespace: "observability" })).toEqual(from("observability"));
	});

	test("declares the fleet as agents read it, forgotten members only where there are some", () => {
		const data = (changes: Partial<FleetSettings>) =>
			fleetObjects({ ...settings, ...changes }).find(isFleetList)?.["data"];
		expect(data({})).toEqual({
			members: "- id: 1-eu\n  name: eu\n  address: eu.example.com:8444\n- id: 2-us\n  name: us\n",
		});
		expect(data({ forgotten: [{ id: "3-ap", name: "ap" }] })).toMatchObject({ forgotten: "- id: 3-ap\n  name: ap\n" });
	});

	test("names the agents' namespace everywhere, and to the agents where it is not the usual one", () => {
		const objects = fleetObjects({ ...settings, agentNamespace: "budgets" });
		expect(JSON.stringify(objects)).not.toContain("xpdb-system");
		expect(JSON.stringify(objects)).toContain("'system:serviceaccount:budgets:xpdb-agent'");
		const others = objects.filter(({ metadata }) => metadata.labels?.[agentNamespaceLabel] !== "budgets");
		expect(others.map(({ kind }) => kind)).toEqual(["CustomResourceDefinition"]);
		expect(argsOf(objects)).toEqual([
			...argsOf(fleetObjects(settings)),
			"--agent-namespace=budgets",
			"--lease-namespace=budgets",
		]);
	});

	test("has the image, its login and the operators that were named, and nothing else changes", () => {
		const plain = fleetObjects(settings);
		const named = fleetObjects({
			...settings,
			image: "registry.example.com/agent@sha256:ab",
			agents: { imagePullSecrets: ["login"] },
			operators: ["sre", "night shift"],
		});
		const changed = named.filter((object, index) => JSON.stringify(object) !== JSON.stringify(plain[index]));
		expect(changed.map(objectText)).toEqual([
			"clusterrolebinding.rbac.authorization.k8s.io/xpdb-operators",
			"rolebinding.rbac.authorization.k8s.io/xpdb-operators",
			"deployment.apps/xpdb-agent",
		]);
		const [binding, , deployment] = changed;
		expect(binding?.["subjects"]).toEqual([
			{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "sre" },
			{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "night shift" },
		]);
		expect(deployment).toMatchObject({
			spec: {
				template: {
					spec: {
						imagePullSecrets: [{ name: "login" }],
						containers: [{ name: "agent", image: "registry.example.com/agent@sha256:ab" }],
					},
				},
			},
		});
	});

	test("gives a team an account that decides about the budgets of its namespaces, and no others", () => {
		const plain = new Set(fleetObjects(settings).map((object) => JSON.stringify(object)));
		const team = { account: "web", groups: ["night shift", "oidc:web"], namespaces: ["web", "web-test"] };
		const objects = fleetObjects({ ...settings, teams: [team] }).filter((object) => !plain.has(JSON.stringify(object)));
		expect(objects.map((object) => `${objectText(object)} ${object.metadata.namespace ?? ""}`.trim())).toEqual([
			"serviceaccount/web xpdb-system",
			"clusterrole.rbac.authorization.k8s.io/xpdb-account-web",
			"clusterrolebinding.rbac.authorization.k8s.io/xpdb-account-web",
			"role.rbac.authorization.k8s.io/xpdb-account-web web",
			"role.rbac.authorization.k8s.io/xpdb-account-web web-test",
			"role.rbac.authorization.k8s.io/xpdb-account-web xpdb-system",
			"role.rbac.authorization.k8s.io/xpdb-acquire-web web",
			"role.rbac.authorization.k8s.io/xpdb-acquire-web web-test",
			"rolebinding.rbac.authorization.k8s.io/xpdb-account-web web",
			"rolebinding.rbac.authorization.k8s.io/xpdb-account-web web-test",
			"rolebinding.rbac.authorization.k8s.io/xpdb-account-web xpdb-system",
			"rolebinding.rbac.authorization.k8s.io/xpdb-acquire-web web",
			"rolebinding.rbac.authorization.k8s.io/xpdb-acquire-web web-test",
		]);
		expect(JSON.stringify(objects)).not.toContain("shop");
		expect(new Set(objects.map(({ metadata }) => metadata.labels?.["xpdb.form3.tech/account"]))).toEqual(
			new Set(["web"]),
		);
		const people = ["night shift", "oidc:web"].map((name) => ({
			apiGroup: "rbac.authorization.k8s.io",
			kind: "Group",
			name,
		}));
		const account = [{ kind: "ServiceAccount", name: "web", namespace: "xpdb-system" }];
		const bindings = objects.filter(({ kind }) => kind.endsWith("Binding"));
		expect(bindings.map((binding) => binding["subjects"])).toEqual(
			bindings.map(({ metadata }) => (metadata.name === "xpdb-acquire-web" ? account : people)),
		);
		const cluster = objects.find(({ kind }) => kind === "ClusterRole");
		expect(cluster?.["rules"]).toEqual([
			{ apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"] },
		]);
	});

	test("is the same text each time, and has no Secret in it", () => {
		expect(JSON.stringify(fleetObjects(settings))).toBe(JSON.stringify(fleetObjects(structuredClone(settings))));
		expect(fleetObjects(settings).map(({ kind }) => kind)).not.toContain("Secret");
	});
});

function argsOf(objects: ReturnType<typeof fleetObjects>): string[] {
	const deployment = objects.find(({ kind }) => kind === "Deployment") as unknown as {
		spec: { template: { spec: { containers: { args: string[] }[] } } };
	};
	return deployment.spec.template.spec.containers.flatMap(({ args }) => args);
}
