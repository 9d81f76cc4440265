import { expect, test } from "vitest";
import { DrivenHash } from "./driven-hash.ts";
import { findScenario } from "./scenarios.ts";

test("DrivenHash.of() is the same for the same scenario, and another one where the scenario says something else", () => {
	const hash = new DrivenHash();
	const race = findScenario("race");
	expect(hash.of(race)).toBe(new DrivenHash().of(race));
	expect(hash.of({ ...race, limits: { ...race.limits, lost: 99 } })).not.toBe(hash.of(race));
	expect(hash.of({ ...race, events: [{ name: "nothing", run: () => undefined }] })).not.toBe(hash.of(race));
	expect(hash.of(findScenario("greeted"))).not.toBe(hash.of(race));
});
