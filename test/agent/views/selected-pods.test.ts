import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import type { LabelSelector } from "../../../disruption/budget/selector.ts";
import { added, deleted, modified, pod, setUp } from "./pod-store-setup.ts";

/** Some sets are equal but different objects. */
const labelSets: readonly PodRecord["labels"][] = [{ app: "db" }, { app: "web" }, { app: "db" }, {}];
const namespaces = ["db", "shop"];
/** Always the same object, as for a budget that is watched. */
const everything: LabelSelector = { requirements: [] };
const databases: LabelSelector = { requirements: [{ key: "app", operator: "In", values: ["db"] }] };

const step = fc.record({
	kind: fc.constantFrom("added", "modified", "deleted", "listed", "reset" as const),
	name: fc.constantFrom("a", "b", "c"),
	uid: fc.constantFrom("1", "2", "3", "4"),
	namespace: fc.constantFrom(...namespaces),
	labels: fc.constantFrom(...labelSets),
});

const byUid = (pods: Iterable<PodRecord>) => [...pods].toSorted((a, b) => (a.uid < b.uid ? -1 : 1));

describe("the pods that a view selects", () => {
	test("are those of its pods whose labels are selected, whatever happened before", () => {
		fc.assert(
			fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
				const { store } = setUp();
				store.replace([], "1");
				for (const [index, { kind, name, ...more }] of steps.entries()) {
					const object = pod(name, String(index + 2), more);
					if (kind === "added") store.apply(added(object));
					else if (kind === "modified") store.apply(modified(object));
					else if (kind === "deleted") store.apply(deleted(object));
					else if (kind === "listed") store.replace([object], String(index + 2));
					else {
						store.reset();
						store.replace([], String(index + 2));
					}
					for (const namespace of namespaces) {
						const all = [...store.pods(namespace)];
						expect(byUid(store.selected(namespace, everything))).toEqual(byUid(all));
						const chosen = all.filter(({ labels }) => labels["app"] === "db");
						expect(byUid(store.selected(namespace, databases))).toEqual(byUid(chosen));
					}
				}
			}),
		);
	});

	test("are compared once for all that have the same labels, and again where there are other labels", () => {
		const { store } = setUp();
		let compared = 0;
		const selector: LabelSelector = {
			requirements: [
				{
					key: "app",
					operator: "In",
					get values() {
						compared += 1;
						return ["db"];
					},
				},
			],
		};
		const selected = () => [...store.selected("db", selector)].length;
		store.replace(
			Array.from({ length: 50 }, (_, index) => pod(`db-${index}`, "1", { labels: { app: "db" } })),
			"1",
		);
		expect(selected()).toBe(50);
		store.apply(modified(pod("db-0", "2", { labels: { app: "db" } })));
		store.apply(added(pod("same", "3", { labels: { app: "db" } })));
		expect([selected(), compared]).toEqual([51, 1]);
		store.apply(added(pod("other", "4", { labels: { app: "db", tier: "x" } })));
		expect([selected(), compared]).toEqual([52, 3]);
	});
});
