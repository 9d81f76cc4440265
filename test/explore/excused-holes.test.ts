import { expect, test } from "vitest";
import { excusedHoles } from "./excused-holes.ts";
import { findScenario } from "./scenarios.ts";

test("an excused hole names a scenario that exists", () => {
	for (const { scenario } of excusedHoles) expect(findScenario(scenario).name).toBe(scenario);
});
