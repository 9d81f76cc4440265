import { expect } from "vitest";
import type { ApiObject } from "../../demo/apiserver/api-object.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

interface List {
	readonly kind: string;
	readonly items: readonly ApiObject[];
	readonly metadata: {
		readonly resourceVersion: string;
		readonly continue?: string;
		readonly remainingItemCount?: number;
	};
}

async function list(world: ContractWorld, path: string, query: Readonly<Record<string, string>> = {}): Promise<List> {
	return (await world.read(`${path}?${new URLSearchParams(query).toString()}`)) as unknown as List;
}

const names = ({ items }: List) => items.map(({ metadata }) => metadata.name);

async function createMaps(world: ContractWorld, all: Readonly<Record<string, Readonly<Record<string, string>>>>) {
	for (const [name, labels] of Object.entries(all)) {
		await world.create(world.path("configmaps"), { metadata: { name, labels } });
	}
}

const labelSelectors: Readonly<Record<string, readonly string[]>> = {
	"tier=front": ["label-a", "label-b"],
	"tier==front,zone=1": ["label-a"],
	"tier!=front": ["label-c", "label-d"],
	"tier in (front, back),zone": ["label-a", "label-c"],
	"tier notin (front)": ["label-c", "label-d"],
	"!zone": ["label-b", "label-d"],
};

function labelCase([labelSelector, expected]: [string, readonly string[]]): ContractCase {
	return {
		name: `label selector "${labelSelector}"`,
		run: (world) => expectListed(world, labelSelector, expected),
	};
}

async function expectListed(world: ContractWorld, labelSelector: string, expected: readonly string[]): Promise<void> {
	const path = world.path("configmaps");
	if ((await world.get(`${path}/label-d`)).code === 404) {
		await createMaps(world, {
			"label-a": { set: "label", tier: "front", zone: "1" },
			"label-b": { set: "label", tier: "front" },
			"label-c": { set: "label", tier: "back", zone: "2" },
			"label-d": { set: "label" },
		});
	}
	expect(names(await list(world, path, { labelSelector: `set=label,${labelSelector}` }))).toEqual(expected);
}

export const listCases: readonly ContractCase[] = [
	{
		name: "a list has a version, and items without their kind",
		async run(world) {
			await createMaps(world, { "kindless-a": { set: "kindless" } });
			const found = await list(world, world.path("configmaps"), { labelSelector: "set=kindless" });
			expect(found.kind).toBe("ConfigMapList");
			expect(found.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
			expect(found.items[0]).not.toHaveProperty("kind");
			expect(found.items[0]).not.toHaveProperty("apiVersion");
		},
	},
	{
		name: "pages show the instant of the first one",
		async run(world) {
			const path = world.path("configmaps");
			await createMaps(world, { "page-a": { set: "page" }, "page-b": { set: "page" }, "page-c": { set: "page" } });
			const query = { labelSelector: "set=page", limit: "2" };
			const first = await list(world, path, query);
			expect(names(first)).toEqual(["page-a", "page-b"]);
			await createMaps(world, { "page-bb": { set: "page" } });
			await world.call({ method: "DELETE", path: `${path}/page-c` });
			const second = await list(world, path, { ...query, continue: first.metadata.continue ?? "" });
			expect(names(second)).toEqual(["page-c"]);
			expect(second.metadata.continue ?? "").toBe("");
			expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
			expect(names(await list(world, path, { labelSelector: "set=page" }))).toEqual(["page-a", "page-b", "page-bb"]);
		},
	},
	{
		name: "a page without selectors says how many are left",
		async run(world) {
			const path = world.path("secrets");
			for (const name of ["a", "b", "c"]) await world.create(path, { metadata: { name } });
			expect((await list(world, path, { limit: "1" })).metadata.remainingItemCount).toBe(2);
		},
	},
	{
		name: "a page of an instant that is forgotten is a 410 Expired",
		async run(world) {
			await world.target.compact();
			const start = Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1, start: "a\u0000" })).toString("base64url");
			const path = world.path("xpoddisruptionbudgets", "", "x-pdb.form3.tech/v1alpha1");
			const answer = await world.get(`${path}?limit=1&continue=${start}`);
			expect(answer).toMatchObject({ code: 410, body: { kind: "Status", status: "Failure", reason: "Expired" } });
		},
	},
	{
		name: "a list at least as new as a version that was just written",
		async run(world) {
			const path = world.path("leases", "", "coordination.k8s.io/v1");
			const { metadata } = await world.create(path, { metadata: { name: "fresh", labels: { set: "fresh" } } });
			const found = await list(world, path, {
				labelSelector: "set=fresh",
				resourceVersionMatch: "NotOlderThan",
				resourceVersion: metadata.resourceVersion,
			});
			expect(names(found)).toEqual(["fresh"]);
		},
	},
	{
		name: "a consistent list has what was just written",
		async run(world) {
			const path = world.path("configmaps");
			for (const name of ["now-1", "now-2", "now-3"]) {
				await createMaps(world, { [name]: { set: "now" } });
				expect(names(await list(world, path, { labelSelector: "set=now" }))).toContain(name);
			}
		},
	},
	...Object.entries(labelSelectors).map(labelCase),
	{
		name: "field selectors find a node's pods, a name and a phase",
		async run(world) {
			const path = world.path("pods");
			const labels = { set: "fields" };
			await world.createPod({ name: "field-a", labels, phase: "Running" });
			await world.createPod({ name: "field-b", labels });
			const found = async (fieldSelector: string) =>
				names(await list(world, path, { labelSelector: "set=fields", fieldSelector }));
			expect(await found("spec.nodeName=nowhere")).toEqual(["field-a"]);
			expect(await found("metadata.name=field-b")).toEqual(["field-b"]);
			expect(await found("status.phase!=Running")).toEqual(["field-b"]);
			expect(await found(`metadata.namespace=${world.namespace},status.phase=Running`)).toEqual(["field-a"]);
		},
	},
	{
		name: "a field that cannot be selected by is a 400",
		async run(world) {
			const answer = await world.get(`${world.path("pods")}?fieldSelector=spec.color%3Dred`);
			expect(answer).toMatchObject({ code: 400, body: { reason: "BadRequest" } });
			expect(answer.body).toHaveProperty("message", expect.stringContaining("field label not supported: spec.color"));
		},
	},
	{
		name: "a version of the future is a 504 with a time to come back",
		async run(world) {
			const query = "resourceVersionMatch=NotOlderThan&resourceVersion=99999999999";
			const answer = await world.get(`${world.path("configmaps")}?${query}`);
			expect(answer).toMatchObject({ code: 504, body: { reason: "Timeout", details: { retryAfterSeconds: 1 } } });
		},
	},
	{
		name: "a table for kubectl get has kubectl's columns",
		async run(world) {
			await world.createPod({ name: "in-table", labels: { set: "table" }, phase: "Running" });
			const answer = await world.call({
				method: "GET",
				path: `${world.path("pods")}?labelSelector=set%3Dtable`,
				accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
			});
			expect(answer).toMatchObject({ code: 200, body: { kind: "Table", apiVersion: "meta.k8s.io/v1" } });
			const { columnDefinitions, rows } = answer.body as {
				columnDefinitions: { name: string; priority: number }[];
				rows: { cells: unknown[]; object: ApiObject }[];
			};
			const shown = columnDefinitions.filter(({ priority }) => priority === 0).map(({ name }) => name);
			expect(shown).toEqual(["Name", "Ready", "Status", "Restarts", "Age"]);
			expect(rows[0]?.cells.slice(0, 3)).toEqual(["in-table", "0/1", "Running"]);
			expect(rows[0]?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "in-table" } });
		},
	},
];
