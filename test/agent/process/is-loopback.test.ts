import { describe, expect, test } from "vitest";
import { isLoopback } from "../../../agent/process/is-loopback.ts";

describe("isLoopback()", () => {
	test("is where a port-forward comes from, and nothing else", () => {
		for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "::1"]) expect(isLoopback(address)).toBe(true);
		for (const address of ["", "10.0.0.1", "127.0.0.10", "::ffff:10.0.0.1", "::"]) {
			expect(isLoopback(address)).toBe(false);
		}
	});
});
