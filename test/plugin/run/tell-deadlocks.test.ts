import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { RunEvent, UsedBy } from "../../../plugin/events/events.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { type DeadlockDependencies, tellDeadlocks } from "../../../plugin/run/tell-deadlocks.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

const pinned = { nodeSelector: { disk: "ssd" } };
const used: UsedBy = { cluster: "c1", namespace: "shop", pod: "pin-0", why: "NotReady", state: "Pending" };

interface World {
	readonly used?: Partial<UsedBy>;
	readonly pod?: Partial<NonNullable<V1Pod["spec"]>>;
	/** Labels of the existing nodes. The drain is of n0 and n1. */
	readonly nodes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** The nodes that are not cordoned. */
	readonly open?: readonly string[];
	readonly fails?: true;
	/** Whether the API server does not answer, and the drain ends meanwhile. */
	readonly hangs?: true;
	readonly drainedIn?: string;
}

/** Returns what three looks report. */
async function told({
	used: change = {},
	pod = {},
	nodes = { n0: { disk: "ssd" }, n1: {}, n2: {} },
	open = ["n2"],
	fails,
	hangs,
	drainedIn = "c1",
}: World) {
	const fleet = new FakeFleet(["c1", "c2"]);
	const ends = new AbortController();
	const client = newClient({
		get(): V1Pod | Promise<V1Pod> {
			if (hangs) setTimeout(() => ends.abort(), 10);
			if (hangs) return new Promise(() => undefined);
			return { metadata: { name: "pin-0" }, spec: { containers: [], ...pinned, ...pod } };
		},
		list(path) {
			if (fails) throw new ApiError("busy", { code: 503 });
			if (path !== "/api/v1/nodes") return [];
			return Object.entries(nodes).map(([name, labels]): V1Node => {
				return { metadata: { name, labels }, spec: { unschedulable: !open.includes(name) } };
			});
		},
	});
	const context = newContext(drainedIn, client);
	const targets = ["n0", "n1"].map((name) => ({ context, name, uid: name, unschedulable: false }));
	const events: RunEvent[] = [];
	let looks = 0;
	const deps: DeadlockDependencies = {
		waits: () => [{ pods: 2, reason: "BudgetExhausted", budget: "shop/pin", usedBy: [{ ...used, ...change }] }],
		fleet: {
			members: fleet.members,
			contextOf: (id) => fleet.members.find((member) => member.id === id)?.name,
		},
		suggest: suggestDefault,
		emit: (event) => void events.push(event),
		async sleep() {
			looks += 1;
			if (looks > 3) ends.abort();
		},
	};
	await tellDeadlocks(targets, deps, ends.signal);
	return events;
}

describe("tellDeadlocks()", () => {
	test("says once that only a cordoned node of this drain fits, and how to go on", async () => {
		expect(await told({})).toEqual([
			{
				type: "diagnostic",
				level: "warning",
				context: "c1",
				reason: "DrainDeadlock",
				node: "n0",
				budget: "shop/pin",
				message:
					"pod shop/pin-0 is Pending, only n0 fits it, which is cordoned and part of this drain: it uses up budget shop/pin, for which " +
					"2 pods of this drain wait. To let it start: kubectl xpdb uncordon n0 --context c1",
			},
		]);
	});

	test("names all nodes that fit", async () => {
		const [event] = await told({ nodes: { n0: { disk: "ssd" }, n1: { disk: "ssd" }, n2: {} } });
		expect(event).toMatchObject({
			message: expect.stringContaining("only n0, n1 fit it, which are cordoned and part of this drain"),
		});
	});

	const silent: readonly (World & { readonly name: string })[] = [
		{ name: "another node fits", nodes: { n0: { disk: "ssd" }, n1: {}, n2: { disk: "ssd" } } },
		{ name: "another node fits that others cordoned", nodes: { n0: { disk: "ssd" }, n2: { disk: "ssd" } }, open: [] },
		{ name: "no node fits at all", nodes: { n0: {}, n1: {}, n2: {} } },
		{ name: "the node was uncordoned meanwhile", open: ["n0", "n2"] },
		{ name: "the pod has a node by now", pod: { nodeName: "n0" } },
		{ name: "the pod is not Pending", used: { state: "CrashLoopBackOff" } },
		{ name: "the pod is in a cluster that is not drained", used: { cluster: "c2" } },
		{ name: "no context of the run leads to the cluster", drainedIn: "other" },
		{ name: "the nodes cannot be read", fails: true },
		{ name: "the API server gives no answer before the drain has ended", hangs: true },
	];
	for (const { name, ...world } of silent) {
		test(`says nothing where ${name}`, async () => {
			expect(await told(world)).toEqual([]);
		});
	}
});
