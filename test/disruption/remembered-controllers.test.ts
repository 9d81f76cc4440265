import { describe, expect, test } from "vitest";
import { controllerKey, isMemoryFull, rememberControllers } from "../../disruption/lease/remembered-controllers.ts";
import { newController } from "../support/build-lease.ts";

describe("rememberControllers()", () => {
	const [db, web] = [newController("db"), newController("web")];

	test("adds those of granted pods, each once", () => {
		expect(rememberControllers([db], [web, db, web, undefined])).toEqual([db, web]);
	});

	test("keeps one of a name, whoever has it now and in whichever version", () => {
		const again = newController("db", { uid: "uid-of-the-next-one", apiVersion: "apps/v2" });
		expect(rememberControllers([db], [again])).toEqual([again]);
	});

	test("keeps two of one name that are of different kinds or groups", () => {
		const others = [newController("db", { kind: "Deployment" }), newController("db", { apiVersion: "example.com/v1" })];
		expect(rememberControllers([db], others)).toEqual([db, ...others]);
	});

	describe("of other kinds than Kubernetes' own", () => {
		const many = (count: number, apiVersion: string) =>
			Array.from({ length: count }, (_, index) => newController(`controller-${index}`, { apiVersion, kind: "Any" }));

		test("adds no more than a Lease has room for, and then says that some may be missing", () => {
			const remembered = rememberControllers([], many(10_000, "example.com/v1"));
			expect(remembered.length).toBeGreaterThan(400);
			expect(remembered.length).toBeLessThan(2_000);
			expect(isMemoryFull(remembered)).toBe(true);
			expect(isMemoryFull(remembered.slice(1))).toBe(false);
			expect(rememberControllers(remembered, [newController("one-more", { apiVersion: "example.com/v1" })])).toEqual(
				remembered,
			);
		});

		test("adds those of Kubernetes all the same", () => {
			const remembered = rememberControllers([], many(10_000, "example.com/v1"));
			expect(rememberControllers(remembered, [db])).toEqual([...remembered, db]);
		});

		test("keeps what an earlier agent has written, however much it is", () => {
			const written = many(2_000, "example.com/v1");
			expect(rememberControllers(written, [])).toEqual(written);
			expect(isMemoryFull(written)).toBe(true);
		});

		test("never says so of Kubernetes' own kinds", () => {
			expect(isMemoryFull(rememberControllers([], many(2_000, "apps/v1")))).toBe(false);
		});
	});

	const rows: readonly { readonly apiVersion: string; readonly kind: string; readonly kept: boolean }[] = [
		{ apiVersion: "apps/v1", kind: "DaemonSet", kept: true },
		{ apiVersion: "v1", kind: "ReplicationController", kept: true },
		{ apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", kept: true },
		{ apiVersion: "v1", kind: "Node", kept: false },
		{ apiVersion: "batch/v1", kind: "Job", kept: false },
	];
	for (const { apiVersion, kind, kept } of rows) {
		test(`${kept ? "remembers" : "does not remember"} a ${kind}`, () => {
			const controller = newController("db", { apiVersion, kind });
			expect(rememberControllers([controller], [controller])).toEqual(kept ? [controller] : []);
		});
	}
});

test("controllerKey() has group, kind and name", () => {
	expect(controllerKey(newController("db"))).toBe("apps/StatefulSet/db");
	expect(controllerKey({ apiVersion: "v1", kind: "ReplicationController", name: "db" })).toBe(
		"/ReplicationController/db",
	);
});
