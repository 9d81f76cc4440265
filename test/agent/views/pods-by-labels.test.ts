import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PodRecord } from "../../../disruption/pod.ts";
import { added, deleted, modified, pod, setUp } from "./pod-store-setup.ts";

/** Some share their labels with others, some only say the same. */
const labelSets: readonly PodRecord["labels"][] = [{ app: "db" }, { app: "web" }, { app: "db" }, {}];
const namespaces = ["db", "shop"];

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
						expect(byUid(store.selected(namespace, () => true))).toEqual(byUid(all));
						const databases = all.filter(({ labels }) => labels["app"] === "db");
						expect(byUid(store.selected(namespace, ({ app }) => app === "db"))).toEqual(byUid(databases));
					}
				}
			}),
		);
	});

	test("are asked for once for all that share their labels", () => {
		const { store } = setUp();
		const labels = { app: "db" };
		store.replace(
			Array.from({ length: 50 }, (_, index) => pod(`db-${index}`, "1", { labels })),
			"1",
		);
		let asked = 0;
		const selected = store.selected("db", () => {
			asked += 1;
			return true;
		});
		expect([...selected]).toHaveLength(50);
		expect(asked).toBe(1);
	});
});
