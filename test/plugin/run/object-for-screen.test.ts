import { expect, test } from "vitest";
import { objectForScreen } from "../../../plugin/run/object-for-screen.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";

const asked: string[] = [];
const context = (name: string, answer: () => unknown) =>
	newContext(
		name,
		newClient({
			get: async (path) => {
				asked.push(`${name} ${path}`);
				return answer();
			},
		}),
	);
const budget = { kind: "budget", context: undefined, namespace: "shop", name: "db" } as const;

test("shows the object as each cluster has it, without managed fields", async () => {
	const eu = context("eu", () => ({ metadata: { name: "db", managedFields: [{}] }, spec: { maxUnavailable: 1 } }));
	const us = context("us", () => {
		throw notFound("gone");
	});
	expect(await objectForScreen(budget, [eu, us])).toEqual([
		"# eu",
		"metadata:",
		"  name: db",
		"spec:",
		"  maxUnavailable: 1",
		"---",
		"# us",
		"not found",
	]);
	expect(asked.splice(0)).toEqual(
		["eu", "us"].map((name) => `${name} /apis/x-pdb.form3.tech/v1alpha1/namespaces/shop/xpoddisruptionbudgets/db`),
	);
});

test("asks the cluster of a pod or node alone, and says why there is nothing", async () => {
	const eu = context("eu", () => ({ kind: "Pod" }));
	const us = context("us", () => {
		throw new Error("no way");
	});
	expect(await objectForScreen({ kind: "pod", context: "eu", namespace: "shop", name: "db-0" }, [eu, us])).toEqual([
		"# eu",
		"kind: Pod",
	]);
	expect(await objectForScreen({ kind: "node", context: "us", name: "n1" }, [us])).toEqual(["error: no way"]);
	expect(await objectForScreen({ kind: "node", context: "ap", name: "n1" }, [eu])).toEqual([
		"no context of this run leads to cluster ap",
	]);
	expect(asked.splice(0)).toEqual(["eu /api/v1/namespaces/shop/pods/db-0", "us /api/v1/nodes/n1"]);
});
