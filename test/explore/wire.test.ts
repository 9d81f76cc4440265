import { expect, test } from "vitest";
import { runRandom } from "./run.ts";
import { findScenario } from "./scenarios.ts";
import { wireScenarios } from "./wire-scenarios.ts";

test.each(wireScenarios.map(({ name }) => name))("a schedule of %s is the same each time", async (name) => {
	const run = () => runRandom(findScenario(name), 7, { record: true, settles: true });
	const first = await run();
	expect(first.violation).toBeUndefined();
	expect(first.steps).toBeGreaterThan(20);
	expect((await run()).history).toEqual(first.history);
});
