import { describe, expect, test } from "vitest";
import { controllerKey, rememberControllers } from "../../disruption/remembered-controllers.ts";
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
