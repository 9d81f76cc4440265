import { describe, expect, test } from "vitest";
import {
	createWorkloadProjection,
	findWorkloadKind,
	type WorkloadKind,
	workloadKinds,
} from "../../../agent/cluster-api/workload-record.ts";

const kindNamed = (kind: string): WorkloadKind => {
	const found = workloadKinds.find((each) => each.kind === kind);
	if (!found) throw new Error(`no kind ${kind}`);
	return found;
};

const metadata = { namespace: "shop", name: "web", uid: "u", resourceVersion: "7" };
const template = { metadata: { labels: { app: "web" } }, spec: { containers: [] } };
const object = (more: object = {}, spec: object = { replicas: 3, template }) => ({
	metadata: { ...metadata, ...more },
	spec,
	status: { replicas: 3 },
});
const ownedBy = (kind: string, apiVersion: string) => ({
	ownerReferences: [{ apiVersion, kind, name: "owner", uid: "o", controller: true }],
});

describe("createWorkloadProjection()", () => {
	const project = createWorkloadProjection(kindNamed("ReplicaSet"));

	test("keeps who it is, the labels of its template and how many pods it wants, and nothing else", () => {
		const { namespace, name, uid, resourceVersion } = metadata;
		expect(project(object({ labels: { app: "own" }, annotations: { a: "b" } }))).toEqual({
			apiVersion: "apps/v1",
			kind: "ReplicaSet",
			namespace,
			name,
			uid,
			resourceVersion,
			labels: { app: "web" },
			isOfDeployment: false,
			scale: { kind: "replicas", replicas: 3, uid },
		});
	});

	test("keeps no scale that cannot be read, and everything else", () => {
		const template = { metadata: { labels: { app: "web" } } };
		for (const spec of [{ template }, { template, replicas: "3" }]) {
			const found = project(object({}, spec));
			expect(found).toMatchObject({ labels: { app: "web" } });
			expect(found).not.toHaveProperty("scale");
		}
	});

	test("keeps no labels of one that a Deployment decides for", () => {
		expect(project(object(ownedBy("Deployment", "apps/v1")))).toMatchObject({ labels: {}, isOfDeployment: true });
	});

	for (const [kind, apiVersion] of [
		["Rollout", "argoproj.io/v1alpha1"],
		["Deployment", "example.com/v1"],
	] as const) {
		test(`keeps one of a ${kind} of ${apiVersion}, which decides for itself`, () => {
			const found = project(object(ownedBy(kind, apiVersion)));
			expect(found).toMatchObject({ labels: { app: "web" }, isOfDeployment: false });
		});
	}

	test("takes a template without labels for one", () => {
		expect(project(object({}, { template: { spec: {} } })).labels).toEqual({});
	});

	const unreadable: readonly (readonly [string, unknown, RegExp])[] = [
		["no object", null, /its metadata is missing/],
		["one without a uid", object({ uid: "" }), /ReplicaSet "web": its metadata.uid is ""/],
		["one without a namespace", object({ namespace: undefined }), /its metadata.namespace is missing/],
		["one of no version", object({ resourceVersion: "x" }), /its metadata.resourceVersion is "x"/],
		["one without a template", object({}, {}), /its spec.template is missing/],
		["one without a spec", { metadata }, /its spec is missing/],
		["labels that are a list", object({}, { template: { metadata: { labels: ["a"] } } }), /labels cannot be read/],
		[
			"a label that is a number",
			object({}, { template: { metadata: { labels: { a: 1 } } } }),
			/label "a" of its template is 1/,
		],
		[
			"an owner that cannot be read",
			object({ ownerReferences: [{ controller: "yes" }] }),
			/controller of its ownerReferences/,
		],
	];
	for (const [what, value, message] of unreadable) {
		test(`refuses ${what}: nobody would be expected`, () => expect(() => project(value)).toThrow(message));
	}
});

test("findWorkloadKind() finds Kubernetes' own kinds in whichever version, and no others of the same name", () => {
	expect(findWorkloadKind({ apiVersion: "apps/v1beta2", kind: "StatefulSet" })?.plural).toBe("statefulsets");
	expect(findWorkloadKind({ apiVersion: "v1", kind: "ReplicationController" })?.prefix).toBe("/api/v1");
	expect(findWorkloadKind({ apiVersion: "apps.kruise.io/v1", kind: "StatefulSet" })).toBeUndefined();
});
