import { describe, expect, test } from "vitest";
import { type PodQuery, resolvePods } from "../../../plugin/evictions/pod-targets.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const selector = { matchLabels: { app: "db" } };
const objects: Readonly<Record<string, object>> = {
	"/api/v1/namespaces/default/pods/db-0": newV1Pod("db-0"),
	"/apis/apps/v1/namespaces/default/statefulsets/db": { metadata: { uid: "uid-db" }, spec: { selector } },
	"/apis/apps/v1/namespaces/default/deployments/web": { metadata: { uid: "uid-web" }, spec: { selector } },
	"/apis/apps/v1/namespaces/default/replicasets/rs": newV1Pod("rs", { owner: { kind: "Deployment", name: "web" } }),
	"/apis/apps/v1/namespaces/default/replicasets/other": newV1Pod("other", {
		owner: { kind: "Deployment", name: "other" },
	}),
};
const listed = [
	newV1Pod("sts-pod", { owner: { kind: "StatefulSet", name: "db" } }),
	newV1Pod("web-pod", { owner: { kind: "ReplicaSet", name: "rs" } }),
	newV1Pod("foreign-pod", { owner: { kind: "ReplicaSet", name: "other" } }),
	newV1Pod("orphan", { owner: { kind: "ReplicaSet", name: "gone" } }),
	newV1Pod("bare"),
];

function contextWith(name: string, own: Readonly<Record<string, object>>) {
	const lists: string[] = [];
	const client = newClient({
		get(path) {
			const found = own[path];
			if (!found) throw notFound(`${path.split("/").at(-2)} "${path.split("/").at(-1)}" not found`);
			return found;
		},
		list(path, query) {
			lists.push(`${path} ${(query as { readonly labelSelector: string }).labelSelector}`);
			return listed;
		},
	});
	return { context: newContext(name, client), lists };
}

const query = (fields: Partial<PodQuery>): PodQuery => ({ words: [], selector: "", allNamespaces: false, ...fields });
const names = async (contexts: readonly KubeContext[], fields: Partial<PodQuery>): Promise<readonly string[]> =>
	(await resolvePods(contexts, query(fields))).pods.map(({ context, pod }) => `${context.name} ${pod.metadata?.name}`);

describe("resolvePods()", () => {
	const a = contextWith("a", objects);
	const b = contextWith("b", {});
	const both = [a.context, b.context];

	const rows: readonly { readonly words: readonly string[]; readonly expected: readonly string[] }[] = [
		{ words: ["db-0"], expected: ["a db-0"] },
		{ words: ["pod/db-0", "a/db-0"], expected: ["a db-0"] },
		{ words: ["a/pods/db-0"], expected: ["a db-0"] },
		{ words: ["sts/db"], expected: ["a sts-pod"] },
		{ words: ["a/statefulsets/db"], expected: ["a sts-pod"] },
		{ words: ["deploy/web"], expected: ["a web-pod"] },
		// As kubectl get -o name prints them.
		{ words: ["deployment.apps/web", "statefulset.apps/db"], expected: ["a web-pod", "a sts-pod"] },
		{ words: ["deployments.v1.apps/web"], expected: ["a web-pod"] },
		{ words: ["deploy", "web"], expected: ["a web-pod"] },
		{ words: ["statefulset", "a/db"], expected: ["a sts-pod"] },
		{ words: ["pods", "db-0"], expected: ["a db-0"] },
	];
	for (const { words, expected } of rows) {
		test(`${words.join(" ")}: what the workload controls, and no more`, async () => {
			expect(await names(both, { words })).toEqual(expected);
		});
	}

	test("a selector selects in every context and namespace", async () => {
		expect(await names(both, { selector: "app=db", allNamespaces: true })).toHaveLength(10);
		expect(a.lists.at(-1)).toBe("/api/v1/pods app=db");
		await names(both, { selector: "app=db" });
		expect(b.lists.at(-1)).toBe("/api/v1/namespaces/default/pods app=db");
	});

	const wrong: readonly {
		readonly name: string;
		readonly contexts: readonly KubeContext[];
		readonly word: string;
		readonly message: string;
	}[] = [
		{ name: "an unknown pod", contexts: [a.context], word: "nope", message: 'pods "nope" not found' },
		{
			name: "a pod in no context",
			contexts: both,
			word: "nope",
			message: 'pod "nope" not found in any of the contexts a, b',
		},
		{
			name: "a workload in no context",
			contexts: both,
			word: "sts/nope",
			message: 'sts "nope" not found in any of the contexts a, b',
		},
		{
			name: "an unknown type",
			contexts: [a.context],
			word: "foo/x",
			message: '"foo/x" is of no type that has pods',
		},
		{
			name: "neither context nor type",
			contexts: both,
			word: "c/x",
			message: '"c/x" begins with neither a context of --contexts nor a type that has pods',
		},
	];
	for (const { name, contexts, word, message } of wrong) {
		test(`${name}: ${message}`, async () => {
			await expect(resolvePods(contexts, query({ words: [word] }))).rejects.toThrow(message);
		});
	}

	test("a workload in several contexts is meant in all of them", async () => {
		const path = "/apis/apps/v1/namespaces/default/statefulsets/db";
		const c = contextWith("c", { [path]: { metadata: { uid: "uid-third" }, spec: { selector } } });
		const sts = newV1Pod("third-pod", { owner: { kind: "StatefulSet", name: "third" } });
		listed.push(sts);
		try {
			expect(await names([a.context, b.context, c.context], { words: ["sts/db"] })).toEqual([
				"a sts-pod",
				"c third-pod",
			]);
		} finally {
			listed.pop();
		}
	});

	test("a workload of one cluster in two contexts is refused", async () => {
		const twin = contextWith("twin", objects);
		await expect(resolvePods([a.context, twin.context], query({ words: ["sts/db"] }))).rejects.toThrow(
			'contexts "a" and "twin" are the same cluster',
		);
	});

	test.each([
		{ word: "svc/web", hint: "Name a pod, or a workload as deployment/NAME, statefulset/NAME, " },
		{ word: "deplyo/web", hint: "Did you mean deploy/...?" },
	])("says what it takes instead of $word", async ({ word, hint }) => {
		await expect(resolvePods([a.context], query({ words: [word] }))).rejects.toMatchObject({
			message: `"${word}" is of no type that has pods`,
			hint: expect.stringContaining(hint),
		});
	});
});
