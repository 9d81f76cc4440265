import { describe, expect, test } from "vitest";
import { leaseViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import { withWatchedLeases } from "../../../agent/views/watched-leases.ts";
import { budgetAnnotation, namespaceLabel } from "../../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { clusterApi, SimulatedApiServer } from "../../explore/simulated-api.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const lease = (name: string, budgetNamespace: string, resourceVersion: string): LeaseObject => ({
	name,
	uid: `uid-${name}`,
	resourceVersion,
	labels: { [namespaceLabel]: budgetNamespace },
	annotations: {},
	spec: {},
});

function setUp() {
	const clock = createManualClock();
	const store = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
	const asked: string[] = [];
	const server = clusterApi(new SimulatedApiServer({ clusterId: "c1", fleet: [] }));
	const api = withWatchedLeases(
		{
			...server,
			async listLeases({ notOlderThan }) {
				asked.push(notOlderThan);
				return [];
			},
		},
		leaseViewOf(store),
	);
	const list = (notOlderThan: string) => api.listLeases({ budgetNamespace: "db", notOlderThan });
	store.replace([lease("a", "db", "7"), lease("b", "web", "9")], "10");
	store.signOfLife(clock.now());
	return { clock, store, asked, list };
}

const namesOf = (leases: readonly LeaseObject[]) => leases.map(({ name }) => name);

describe("listLeases() of withWatchedLeases()", () => {
	test("answers from a watch that has come as far as the version", async () => {
		const { asked, list } = setUp();
		expect(namesOf(await list("9"))).toEqual(["a"]);
		expect(namesOf(await list("10"))).toEqual(["a"]);
		expect(asked).toEqual([]);
	});

	test("has what cannot be read where it may belong, and nowhere else", async () => {
		const { list, store } = setUp();
		const unreadable = "its labels are not all strings";
		const broken = (name: string, ours: Partial<LeaseObject>) => ({
			...lease(name, "", "11"),
			labels: {},
			unreadable,
			...ours,
		});
		store.replace(
			[
				broken("by-label", { labels: { [namespaceLabel]: "db" } }),
				broken("by-budget", { annotations: { [budgetAnnotation]: "db/x" } }),
				broken("of-another", { annotations: { [budgetAnnotation]: "web/x" } }),
				broken("of-nobody-knows-whom", {}),
			],
			"11",
		);
		expect(namesOf(await list("11"))).toEqual(["by-label", "by-budget", "of-nobody-knows-whom"]);
	});

	test("waits for the event of that version, and has what came before it", async () => {
		const { asked, list, store } = setUp();
		const listed = list("12");
		store.apply({ type: "ADDED", object: lease("c", "db", "11"), resourceVersion: "11" });
		store.apply({ type: "MODIFIED", object: lease("a", "db", "12"), resourceVersion: "12" });
		expect(namesOf(await listed)).toEqual(["a", "c"]);
		expect(asked).toEqual([]);
	});

	test("asks the API server where the watch does not get there in time", async () => {
		const { asked, clock, list } = setUp();
		const listed = list("12");
		clock.advance(500);
		await listed;
		expect(asked).toEqual(["12"]);
	});

	test("asks the API server at once where the watch is not alive, or is lost meanwhile", async () => {
		const { asked, clock, list, store } = setUp();
		const listed = list("12");
		store.watchLost();
		await listed;
		await list("9");
		store.signOfLife(clock.now());
		clock.advance(5_000);
		await list("9");
		expect(asked).toEqual(["12", "9", "9"]);
	});

	test("asks the API server where its versions went back", async () => {
		const { asked, list, store } = setUp();
		store.reset();
		await list("3");
		expect(asked).toEqual(["3"]);
	});

	test("leaves a consistent list to the API server", async () => {
		const { asked, list } = setUp();
		await list("");
		expect(asked).toEqual([""]);
	});
});
