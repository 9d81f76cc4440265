import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PodColumns } from "../../../agent/views/pod-columns.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import type { LabelSelector } from "../../../disruption/budget/selector.ts";
import { newPod } from "../../support/build-pod.ts";

const databases: LabelSelector = { requirements: [{ key: "app", operator: "In", values: ["db"] }] };
const uids = [
	"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
	"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f8",
	"00000000-0000-0000-0000-000000000000",
	"0A1B2C3D-4e5f-6071-8293-a4b5c6d7e8f9",
	"0a1b2c3d4e5f60718293a4b5c6d7e8f9",
	"mirror-of-a-static-pod",
];
const controller = (name: string, more: object = {}) => ({
	apiVersion: "apps/v1",
	kind: "ReplicaSet",
	name,
	uid: `uid-of-${name}`,
	...more,
});
const controllers = [
	undefined,
	controller("web-5d8f"),
	controller("web-5d8f", { uid: "another" }),
	controller("web-5d8f", { apiVersion: "apps/v2" }),
	controller("web"),
];
const labelSets: readonly PodRecord["labels"][] = [
	{ app: "db" },
	{ app: "db", tier: "" },
	{ tier: "", app: "db" },
	{ app: "web" },
	{},
	JSON.parse('{ "__proto__": "db", "app": "db" }') as Record<string, string>,
];

const anyPod: fc.Arbitrary<PodRecord> = fc
	.record({
		uid: fc.constantFrom(...uids),
		name: fc.constantFrom("web-5d8f-x7k2p", "web-5d8f-", "web-0", "web", "web-5d8f-a-long-suffix", "web-ü", "other"),
		namespace: fc.constantFrom("shop", "bank"),
		resourceVersion: fc.constantFrom("0", "7", "9007199254740993", "99999999999999999999999", "123456789012"),
		labels: fc.constantFrom(...labelSets),
		node: fc.constantFrom("", "node-1", "node-2"),
		controller: fc.constantFrom(...controllers),
		ready: fc.boolean(),
		terminating: fc.boolean(),
		finished: fc.boolean(),
		preActivities: fc.constantFrom([], ["flush"]),
		status: fc.constantFrom(undefined, { state: "Pending" }),
	})
	.map(({ controller: owner, status, ...pod }) => ({
		...pod,
		...(owner && { controller: owner }),
		...(status && { status }),
	}));

const step = fc.oneof(
	{ weight: 6, arbitrary: fc.record({ kind: fc.constant("put" as const), pod: anyPod }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), uid: fc.constantFrom(...uids) }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("list" as const), pods: fc.array(anyPod, { maxLength: 4 }) }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const) }) },
);

/** What the columns must hold, in maps of objects. */
class Model {
	readonly pods = new Map<string, PodRecord>();

	put(pod: PodRecord): void {
		for (const other of this.pods.values())
			if (other.name === pod.name && other.namespace === pod.namespace) this.pods.delete(other.uid);
		this.pods.set(pod.uid, pod);
	}
}

const byUid = (pods: Iterable<PodRecord>) => [...pods].toSorted((a, b) => (a.uid < b.uid ? -1 : 1));

describe("PodColumns", () => {
	test("hold what was put last under each uid and name, whatever happened before", () => {
		fc.assert(
			fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
				const columns = new PodColumns();
				const model = new Model();
				for (const each of steps) {
					if (each.kind === "put") {
						columns.put(each.pod);
						model.put(each.pod);
					} else if (each.kind === "remove") {
						columns.remove(each.uid);
						model.pods.delete(each.uid);
					} else if (each.kind === "clear") {
						columns.clear();
						model.pods.clear();
					} else {
						columns.beginList();
						model.pods.clear();
						for (const pod of each.pods) {
							columns.put(pod);
							model.put(pod);
						}
						for (const uid of columns.unlisted()) columns.remove(uid);
					}
					const all = [...model.pods.values()];
					expect(columns.size).toBe(all.length);
					for (const uid of uids) expect(columns.find(uid)).toEqual(model.pods.get(uid));
					for (const namespace of ["shop", "bank", "none"]) {
						const here = all.filter((pod) => pod.namespace === namespace);
						expect(byUid(columns.pods(namespace))).toEqual(byUid(here));
						const selected = here.filter(({ labels }) => labels["app"] === "db");
						expect(byUid(columns.selected(namespace, databases))).toEqual(byUid(selected));
						for (const pod of here) expect(columns.findByName(namespace, pod.name)).toEqual(pod);
					}
					expect([...columns.namespaces()].toSorted()).toEqual(
						[...new Set(all.map(({ namespace }) => namespace))].toSorted(),
					);
				}
			}),
			{ numRuns: 300 },
		);
	});

	test("says which pod lost its name", () => {
		const columns = new PodColumns();
		columns.put(newPod("db-0", { uid: uids[0] ?? "" }));
		expect(columns.put(newPod("db-0", { uid: uids[0] ?? "", ready: false }))).toBeUndefined();
		expect(columns.put(newPod("db-0", { uid: uids[1] ?? "" }))).toBe(uids[0]);
	});

	test("share what is equal, so that a comparison by identity finds what changed", () => {
		const columns = new PodColumns();
		const pod = (name: string) => newPod(name, { labels: { app: "db" }, controller: controller("db") });
		columns.put(pod("db-0"));
		columns.put(pod("db-1"));
		const [first, second] = ["db-0", "db-1"].map((name) => columns.findByName("shop", name));
		expect(first?.labels).toBe(second?.labels);
		expect(first?.controller).toBe(second?.controller);
	});

	test("find each of many pods while they come and go", () => {
		const columns = new PodColumns();
		const uidOf = (index: number): string => `${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
		const pod = (index: number) =>
			newPod(`web-5d8f-${index}`, { uid: uidOf(index), controller: controller("web-5d8f"), labels: { app: "db" } });
		for (let index = 0; index < 3_000; index += 1) columns.put(pod(index));
		for (let index = 0; index < 3_000; index += 3) columns.remove(uidOf(index));
		for (let index = 3_000; index < 4_000; index += 1) columns.put(pod(index));
		expect(columns.size).toBe(3_000);
		for (let index = 0; index < 4_000; index += 1) {
			const isGone = index < 3_000 && index % 3 === 0;
			expect(columns.find(uidOf(index))?.name).toBe(isGone ? undefined : `web-5d8f-${index}`);
			expect(columns.findByName("shop", `web-5d8f-${index}`)?.uid).toBe(isGone ? undefined : uidOf(index));
		}
		expect([...columns.selected("shop", databases)]).toHaveLength(3_000);
	});
});
