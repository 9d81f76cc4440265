import type { V1Pod } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { readSiblings } from "../../../plugin/plan/read-siblings.ts";
import { newContext } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const owner = { kind: "ReplicaSet", name: "web-1" };
const web = (name: string): V1Pod => newV1Pod(name, { owner, labels: { "pod-template-hash": "1" }, namespace: "shop" });

function context(list: () => Promise<readonly V1Pod[]>) {
	const asked: string[] = [];
	const made = newContext("eu");
	const client = {
		...made.client,
		list: async <T>(path: string, query: { readonly labelSelector?: string } = {}): Promise<readonly T[]> => {
			asked.push(`${path} ${query.labelSelector}`);
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only pods are asked for
			return (await list()) as unknown as readonly T[];
		},
	};
	return { asked, context: { ...made, client } };
}

test("reads a few pods of each template that does not show how long a start takes", async () => {
	const elsewhere = web("web-b");
	const { asked, context: eu } = context(async () => [elsewhere, newV1Pod("other")]);
	const pods = [web("web-a"), newV1Pod("bare"), newV1Pod("old", { owner: { kind: "Node", name: "x" } })];
	expect(await readSiblings(eu, pods)).toEqual([elsewhere]);
	expect(asked).toEqual(["/api/v1/namespaces/shop/pods pod-template-hash=1"]);
});

test("has none where they cannot be read", async () => {
	const { context: eu } = context(async () => {
		throw new Error("forbidden");
	});
	expect(await readSiblings(eu, [web("web-a")])).toEqual([]);
});
