import { expect, test } from "vitest";
import { codeOf, DrivenHash, reachableFrom } from "./driven-hash.ts";
import { findScenario } from "./scenarios.ts";

test("DrivenHash.of() is the same for the same scenario, and another one where the scenario says something else", () => {
	const hash = new DrivenHash();
	const race = findScenario("race");
	expect(hash.of(race)).toBe(new DrivenHash().of(race));
	expect(hash.of({ ...race, limits: { ...race.limits, lost: 99 } })).not.toBe(hash.of(race));
	expect(hash.of({ ...race, events: [{ name: "nothing", run: () => undefined }] })).not.toBe(hash.of(race));
	expect(hash.of(findScenario("greeted"))).not.toBe(hash.of(race));
});

test("reachableFrom() follows what is imported for its values, and not what is imported for its types", () => {
	const files = reachableFrom(["test/explore/run.ts"]);
	expect([...files]).toEqual(
		expect.arrayContaining(["disruption/round/round.ts", "agent/leases/count.ts", "plugin/evictions/evictions.ts"]),
	);
	// Driven code imports only types from these.
	for (const file of ["plugin/kubernetes/kubernetes-client.ts", "agent/process/clock.ts"])
		expect(files.has(file)).toBe(false);
});

test("codeOf() leaves out comments, types and layout, and nothing that runs", () => {
	const code = codeOf('import { a } from "./a.ts";\nexport const limit = 3;\nexport class B { #c = "// d"; }\n');
	const written = `// A comment.
import { a } from "./a.ts";
import type { D } from "./d.ts";
/** Another one. */
export const limit: number = 3; // pods
export class B {
	#c: string = "// d";
}
`;
	expect(codeOf(written)).toBe(code);
	expect(code).toContain('"./a.ts"');
	expect(codeOf(written.replace("// d", "// e"))).not.toBe(code);
	expect(codeOf(written.replace("= 3", "= 4"))).not.toBe(code);
});
