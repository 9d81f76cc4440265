import { describe, expect, test } from "vitest";
import { mutatedSources } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { findScenario } from "./scenarios.ts";

// `npm run explore -- --mutants` checks whether each one is caught, which takes longer.
describe("a mutant", () => {
	for (const mutant of mutants) {
		test(`${mutant.name} fits the code as it is, and names scenarios that there are`, () => {
			expect(mutatedSources(mutant).size).toBeGreaterThan(0);
			for (const scenario of mutant.scenarios) expect(findScenario(scenario).name).toBe(scenario);
		});
	}
});
