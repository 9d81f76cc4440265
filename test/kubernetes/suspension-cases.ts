// What suspending a budget needs from an API server.
import { expect } from "vitest";
import { suspensionEvent } from "../../plugin/fleet/suspension-event.ts";
import { newContext } from "../support/build-context.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const group = "x-pdb.form3.tech/v1alpha1";
const merge = "application/merge-patch+json";

async function createBudget(world: ContractWorld, name: string): Promise<string> {
	await world.create(world.path("xpoddisruptionbudgets", "", group), {
		apiVersion: group,
		kind: "XPodDisruptionBudget",
		metadata: { name },
		spec: { maxUnavailable: 1, selector: {} },
	});
	return world.path("xpoddisruptionbudgets", name, group);
}

export const suspensionCases: readonly ContractCase[] = [
	{
		name: "a merge patch of a budget that names its version suspends it, and null takes that away",
		async run(world) {
			const path = await createBudget(world, "suspended");
			const annotations = { "xpdb.form3.tech/suspended": "{}" };
			const { resourceVersion } = (await world.read(path)).metadata;
			const rehearsed = await world.patch(
				`${path}?dryRun=All`,
				{ metadata: { resourceVersion, annotations }, spec: { suspend: true } },
				merge,
			);
			expect(rehearsed).toMatchObject({ code: 200, body: { metadata: { annotations }, spec: { suspend: true } } });
			expect((await world.read(path)).metadata.resourceVersion).toBe(resourceVersion);
			const suspend = { metadata: { resourceVersion, annotations }, spec: { suspend: true } };
			const written = await world.patch(path, suspend, merge);
			expect(written).toMatchObject({ code: 200, body: { metadata: { annotations }, spec: { suspend: true } } });
			// The same patch now names a version that is gone.
			expect(await world.patch(path, { ...suspend, spec: { suspend: null } }, merge)).toMatchObject({
				code: 409,
				body: { reason: "Conflict" },
			});
			const now = (await world.read(path)).metadata.resourceVersion;
			const taken = await world.patch(path, { metadata: { resourceVersion: now }, spec: { suspend: null } }, merge);
			expect(taken.code).toBe(200);
			expect((await world.read(path)).spec).toEqual({ maxUnavailable: 1, selector: {} });
		},
	},
	{
		name: "an Event of events.k8s.io beside a budget is taken as it is, and rehearsed without being kept",
		async run(world) {
			const path = await createBudget(world, "told");
			const { uid, resourceVersion } = (await world.read(path)).metadata;
			const found = {
				uid,
				resourceVersion,
				suspended: false,
				suspend: undefined,
				annotation: undefined,
				suspension: undefined,
			};
			const target = {
				context: newContext("eu"),
				cluster: "eu",
				name: { namespace: world.namespace, name: "told" },
				found,
			};
			const note = {
				suspend: true,
				by: "alice@laptop",
				at: Date.now(),
				reason: "é".repeat(500),
				clusters: ["eu", "us"],
			};
			const event = suspensionEvent(target, note);
			const events = world.path("events", "", "events.k8s.io/v1");
			const post = (query: string) => world.call({ method: "POST", path: events + query, body: event });
			const kept = async () =>
				((await world.get(events)).body as { readonly items: readonly { readonly reason?: string }[] }).items;
			expect(await post("?dryRun=All")).toMatchObject({ code: 201 });
			expect((await kept()).filter(({ reason }) => reason === "Suspended")).toEqual([]);
			expect(await post("")).toMatchObject({ code: 201, body: event });
			expect((await kept()).filter(({ reason }) => reason === "Suspended")).toMatchObject([{ regarding: { uid } }]);
		},
	},
];
