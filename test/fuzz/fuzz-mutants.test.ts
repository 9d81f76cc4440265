import { describe, expect, test } from "vitest";
import { mutatedSources } from "../explore/mutant.ts";
import { fuzzMutants } from "./fuzz-mutants.ts";
import { findTarget } from "./targets.ts";

// A mutant that does not fit the code would fail at once, and that failure would look like success. `npm run fuzz -- --mutants` tests in
// some minutes that each mutant is noticed for what it leaves out.
describe("a mutant of the fuzz targets", () => {
	for (const mutant of fuzzMutants) {
		test(`${mutant.name} fits the code as it is, and its target is there`, () => {
			expect(mutatedSources(mutant).size).toBe(1);
			expect(findTarget(mutant.target).name).toBe(mutant.target);
		});
	}
});
