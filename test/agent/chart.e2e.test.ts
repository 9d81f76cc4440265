// Tests that the real helm makes the same objects from agent/chart/ as `kubectl xpdb install`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { managedByLabel } from "../../disruption/agent-names.ts";
import { type ClusterObject, objectKey } from "../../plugin/install/cluster-object.ts";
import type { Exposure } from "../../plugin/install/expose/exposure.ts";
import { type FleetSettings, fleetObjects, isFleetList } from "../../plugin/install/fleet-objects.ts";
import { helmPrograms } from "../controlplane/go-programs.ts";
import { findPrograms } from "../controlplane/program-cache.ts";

const helm = await findPrograms(helmPrograms);
const isMissing = helm.kind === "missing";
const name = isMissing ? `agent/chart (skipped: ${helm.reason})` : "agent/chart";

const eu = { id: "0f0d2f60-0000-4000-8000-000000000001", name: "eu", address: "eu.example.com:8444" };
const us = { id: "0f0d2f60-0000-4000-8000-000000000002", name: "us" };
const plain: FleetSettings = {
	agentNamespace: "xpdb-system",
	image: "registry.example.com/xpdb-agent:0.2.0",
	agents: {},
	members: [eu, us],
	forgotten: [],
	operators: [],
	exposure: undefined,
	teams: [],
};

const bare = (kind: Exposure["kind"]): Exposure => ({ kind, annotations: {}, sources: [] });

/** Without a cluster or this flag, a helm that was built from its module assumes an old Kubernetes version. */
const template = ["template", "xpdb", "agent/chart", "--kube-version=1.30.0"];

/** Returns the chart's values for the same settings. */
function valuesOf({ image, agents, exposure, ...others }: FleetSettings): Readonly<Record<string, unknown>> {
	const { imagePullPolicy, imagePullSecrets, memory, ...agent } = agents;
	return {
		...others,
		agent: { ...agent, ...(memory && { memory: memory.limit }) },
		...(imagePullPolicy !== undefined && { imagePullPolicy }),
		...(image !== undefined && { image }),
		...(imagePullSecrets && { imagePullSecret: imagePullSecrets[0] }),
		...(exposure && { expose: exposure }),
	};
}

/** Returns the sorted objects without intended differences: their manager, and helm's instruction to keep the CRD. */
function comparable(objects: readonly ClusterObject[]): readonly ClusterObject[] {
	return objects
		.map((object): ClusterObject => {
			const { [managedByLabel]: _, ...labels } = object.metadata.labels ?? {};
			const annotations = { ...(object.metadata["annotations"] as Readonly<Record<string, string>> | undefined) };
			delete annotations["helm.sh/resource-policy"];
			const { annotations: __, ...metadata } = object.metadata;
			const isAnnotated = Object.keys(annotations).length > 0;
			const data = object["data"] as Readonly<Record<string, string>> | undefined;
			return {
				...object,
				metadata: { ...metadata, labels, ...(isAnnotated && { annotations }) },
				// Two libraries write the same YAML differently, so only its content counts.
				...(isFleetList(object) && {
					data: Object.fromEntries(Object.entries(data ?? {}).map(([key, text]) => [key, parse(text)])),
				}),
			};
		})
		.toSorted((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1));
}

describe.skipIf(isMissing)(name, () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-chart-test-"));
	afterAll(() => rmSync(folder, { recursive: true }));

	function run(command: readonly string[], values: Readonly<Record<string, unknown>>) {
		if (helm.kind === "missing") throw new Error(helm.reason);
		const file = join(folder, "values.yaml");
		writeFileSync(file, stringify(values));
		const env = { HOME: folder, PATH: "" };
		const { status, stdout, stderr } = spawnSync(helm.path("helm"), [...command, `--values=${file}`], {
			env,
			encoding: "utf8",
		});
		return { code: status, stdout, stderr };
	}

	function render(values: Readonly<Record<string, unknown>>): readonly ClusterObject[] {
		const { code, stdout, stderr } = run([...template, "--namespace=kube-system"], values);
		expect(code, stderr).toBe(0);
		return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as ClusterObject | null) ?? []);
	}

	test.each<[string, FleetSettings]>([
		["with a fleet alone", plain],
		[
			"with everything that can be set",
			{
				agentNamespace: "budgets",
				image:
					"registry.example.com:5000/team/xpdb-agent@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
				agents: {
					imagePullSecrets: ["registry.login"],
					imagePullPolicy: "Always",
					memory: { request: "512Mi", limit: "512Mi" },
					cpu: "100m",
					replicas: 3,
					nodeSelector: { "kubernetes.io/os": "linux", pool: "infra" },
					tolerations: [{ key: "dedicated", operator: "Equal", value: "infra", effect: "NoSchedule" }],
					affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } },
					priorityClass: "system-cluster-critical",
					annotations: { "example.com/scrape": "true" },
				},
				members: [eu, us],
				forgotten: [{ id: "3", name: "gone: #1" }, { id: "0x4" }],
				operators: ["team: a", "oidc:platform"],
				metricsNamespace: "observability",
				exposure: {
					kind: "loadbalancer",
					loadBalancerClass: "service.k8s.aws/nlb",
					annotations: { "service.example.com/z": "true", "service.example.com/a": 'x: #1, "y"' },
					sources: ["203.0.113.0/24", "2001:db8::/32"],
				},
				teams: [
					{ account: "team-web", groups: ["team: web", "cn=web,ou=teams"], namespaces: ["web", "web-test"] },
					{ account: "1", groups: ["one"], namespaces: ["one"] },
				],
			},
		],
		["with a load balancer as the cluster has it", { ...plain, exposure: bare("loadbalancer") }],
		["with a node port", { ...plain, exposure: bare("nodeport") }],
	])("makes the objects of kubectl xpdb install, %s", (_name, settings) => {
		const objects = render(valuesOf(settings));
		expect(comparable(objects)).toEqual(comparable(fleetObjects(settings)));
		expect(new Set(objects.map(({ metadata }) => metadata.labels?.[managedByLabel]))).toEqual(new Set(["Helm"]));
		const kept = objects.filter(({ metadata }) => metadata["annotations"] !== undefined);
		expect(kept.map(({ kind, metadata }) => [kind, metadata["annotations"]])).toContainEqual([
			"CustomResourceDefinition",
			{ "helm.sh/resource-policy": "keep" },
		]);
	});

	test("leaves the namespace to whoever has made it", () => {
		const objects = render({ ...valuesOf(plain), createNamespace: false });
		const expected = fleetObjects(plain).filter(({ kind }) => kind !== "Namespace");
		expect(comparable(objects)).toEqual(comparable(expected));
	});

	test("gives no team the agents' namespace", () => {
		const team = { account: "a", groups: ["a"], namespaces: ["a", "xpdb-system"] };
		const { code, stderr } = run(template, { ...valuesOf(plain), teams: [team] });
		expect(code).toBe(1);
		expect(stderr).toContain("the agents' namespace is reserved for the agents");
	});

	test("has nothing that helm's own check finds", () => {
		const { code, stdout } = run(["lint", "--strict", "agent/chart"], valuesOf(plain));
		expect(code, stdout).toBe(0);
	});

	test("passes helm's own check with the values that are shipped for it", () => {
		if (helm.kind === "missing") throw new Error(helm.reason);
		const values = "agent/chart/ci/example-values.yaml";
		const lint = spawnSync(helm.path("helm"), ["lint", "--strict", "agent/chart", "--values", values], {
			env: { HOME: folder, PATH: "" },
			encoding: "utf8",
		});
		expect(lint.status, lint.stdout).toBe(0);
	});

	test("names what has to be filled in where there are no values", () => {
		const { code, stdout } = run(["lint", "agent/chart"], {});
		expect(code).toBe(1);
		expect(stdout).toContain("at '/members': minItems: got 0, want 1");
		expect(stdout).toContain("at '/image': minLength: got 0, want 1");
	});

	test.each([
		["two members of one id", { members: [eu, { ...us, id: eu.id }] }, `members: the id ${eu.id} is listed twice`],
		["two members of one name", { members: [eu, { ...us, name: "eu" }] }, "members: the name eu is listed twice"],
		["a member that is forgotten", { forgotten: [{ id: us.id }] }, `the id ${us.id} is also in members`],
	])("refuses %s", (_name, changed, why) => {
		const { code, stderr } = run(template, { ...valuesOf(plain), ...changed });
		expect(code).toBe(1);
		expect(stderr).toContain(why);
	});

	test.each([
		["no image", { image: "" }, "image"],
		["an image with capital letters", { image: "Example.com/UPPER:1" }, "image"],
		["an image with half a digest", { image: "agent@sha256:abc" }, "image"],
		["a port that does not exist", { members: [{ ...eu, address: "eu.example.com:99999" }] }, "address"],
		["port 0", { members: [{ ...eu, address: "eu.example.com:0" }] }, "address"],
		["no member", { members: [] }, "members"],
		["a member without an id", { members: [{ name: "eu" }] }, "id"],
		["a value that it does not know", { replicas: 3 }, "replicas"],
		["an address without a port", { members: [{ ...eu, address: "eu.example.com" }] }, "address"],
		["a kind of Service that it does not make", { expose: { kind: "clusterip" } }, "kind"],
		["an annotation of a node port", { expose: { kind: "nodeport", annotations: { "a.b/c": "d" } } }, "annotations"],
		["a source that is no CIDR", { expose: { kind: "loadbalancer", sources: ["10.0.0.1"] } }, "sources"],
		["a team without a namespace", { teams: [{ account: "a", groups: ["a"], namespaces: [] }] }, "namespaces"],
		[
			"a team with the agents' account",
			{ teams: [{ account: "xpdb-agent", groups: ["a"], namespaces: ["a"] }] },
			"account",
		],
		["a namespace that none can have", { agentNamespace: "Budgets" }, "agentNamespace"],
	])("refuses %s by its schema", (_name, changed, where) => {
		const values = { ...valuesOf(plain), ...changed };
		const { code, stderr } = run(template, values);
		expect(code).toBe(1);
		expect(stderr).toContain("values don't meet the specifications of the schema");
		expect(stderr).toContain(where);
	});
});
