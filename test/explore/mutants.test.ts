import { describe, expect, test } from "vitest";
import { mutatedSources } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { findScenario } from "./scenarios.ts";

// That each one is caught takes a minute, and `npm run explore -- --mutants`.
describe("a mutant", () => {
	for (const mutant of mutants) {
		test(`${mutant.name} fits the code as it is, and names scenarios that there are`, () => {
			expect(mutatedSources(mutant).size).toBeGreaterThan(0);
			for (const scenario of mutant.scenarios) expect(findScenario(scenario).name).toBe(scenario);
		});
	}
});
