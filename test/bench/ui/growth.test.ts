import { expect, test } from "vitest";
import { growth } from "./growth.ts";

test("memory grows by the last fifth over the second one: what is filled once in the first does not count", () => {
	expect(growth([50, 60, 100, 100, 104, 104, 108, 108, 110, 110])).toBe(1.1);
});
