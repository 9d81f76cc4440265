import { describe, expect, test } from "vitest";
import { SeenVersions } from "../../../agent/kubernetes/seen-versions.ts";

function setUp() {
	const versions = new SeenVersions();
	const wentBack: string[] = [];
	versions.onWentBack((resource) => void wentBack.push(resource));
	return { versions, wentBack };
}

describe("SeenVersions", () => {
	test("tells when an answer is older than what was seen before its request", () => {
		const { versions, wentBack } = setUp();
		versions.saw("pods", "100");
		expect(versions.answered(versions.mark("pods"), "99")).toBe(true);
		expect(wentBack).toEqual(["pods"]);
	});

	test("says nothing of an answer as old as what was seen, or newer", () => {
		const { versions, wentBack } = setUp();
		versions.saw("pods", "100");
		expect(versions.answered(versions.mark("pods"), "100")).toBe(false);
		expect(versions.answered(versions.mark("pods"), "1000")).toBe(false);
		expect(wentBack).toEqual([]);
	});

	test("tells when a write has made no version higher than what was seen before it", () => {
		const { versions, wentBack } = setUp();
		versions.saw("pods", "100");
		expect(versions.written(versions.mark("pods"), "101")).toBe(false);
		expect(versions.written(versions.mark("pods"), "101")).toBe(true);
		expect(wentBack).toEqual(["pods"]);
	});

	test("does not hold what was seen after the request against its answer", () => {
		const { versions, wentBack } = setUp();
		versions.saw("pods", "100");
		const mark = versions.mark("pods");
		versions.saw("pods", "200");
		expect(versions.answered(mark, "150")).toBe(false);
		expect(wentBack).toEqual([]);
		expect(versions.answered(versions.mark("pods"), "199")).toBe(true);
	});

	test("does not compare one resource with another", () => {
		const { versions, wentBack } = setUp();
		versions.saw("leases", "100");
		expect(versions.answered(versions.mark("pods"), "5")).toBe(false);
		expect(wentBack).toEqual([]);
	});

	test("does not hold requests from before against the restored server", () => {
		const { versions, wentBack } = setUp();
		versions.saw("pods", "100");
		versions.saw("leases", "100");
		const leases = versions.mark("leases");
		versions.answered(versions.mark("pods"), "50");
		expect(versions.answered(leases, "51")).toBe(false);
		expect(versions.answered(versions.mark("pods"), "50")).toBe(false);
		expect(wentBack).toEqual(["pods"]);
	});

	test("an old version that is only seen takes nothing back", () => {
		const { versions, wentBack } = setUp();
		versions.saw("pods", "100");
		versions.saw("pods", "7");
		expect(versions.answered(versions.mark("pods"), "99")).toBe(true);
		expect(wentBack).toEqual(["pods"]);
	});
});
