import { describe, expect, test } from "vitest";
import { mutatedSources } from "../explore/mutant.ts";
import { fuzzMutants } from "./fuzz-mutants.ts";
import { findTarget, targets } from "./targets.ts";

// A mutant that does not fit the code would fail at once, as if its target had noticed it. `npm run fuzz -- --mutants` tests in some
// minutes that each target notices its mutants.
test("each fuzz target has a mutant that it must notice", () => {
	const having = new Set(fuzzMutants.map(({ target }) => target));
	expect(targets.map(({ name }) => name).filter((name) => !having.has(name))).toEqual([]);
});

describe("a mutant of the fuzz targets", () => {
	for (const mutant of fuzzMutants) {
		test(`${mutant.name} fits the code as it is, and its target is there`, () => {
			expect(mutatedSources(mutant).size).toBe(1);
			expect(findTarget(mutant.target).name).toBe(mutant.target);
		});
	}
});
