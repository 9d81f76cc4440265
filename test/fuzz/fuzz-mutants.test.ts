import { describe, expect, test } from "vitest";
import { mutatedSources } from "../explore/mutant.ts";
import { fuzzMutants } from "./fuzz-mutants.ts";
import { findTarget } from "./targets.ts";

// One that does not fit is noticed at once, by an error that looks like success. That each one is noticed for what it takes out takes
// minutes, and `npm run fuzz -- --mutants`.
describe("a mutant of the fuzz targets", () => {
	for (const mutant of fuzzMutants) {
		test(`${mutant.name} fits the code as it is, and its target is there`, () => {
			expect(mutatedSources(mutant).size).toBe(1);
			expect(findTarget(mutant.target).name).toBe(mutant.target);
		});
	}
});
