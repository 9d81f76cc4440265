import { describe, expect, test } from "vitest";
import { holderIdentity, readHolder, userAtHost } from "../../../plugin/fleet/holder-identity.ts";

describe("readHolder()", () => {
	test("reads who a run says it is", () => {
		expect(readHolder(holderIdentity("drain", "7f3c2a"))).toEqual({ person: userAtHost(), operation: "drain 7f3c2a" });
	});

	test("takes what is no run's for the name of somebody", () => {
		for (const holder of ["x-pdb", "alice and bob", "alice@laptop drain 7F", ""]) {
			expect(readHolder(holder)).toEqual({ person: holder });
		}
	});
});
