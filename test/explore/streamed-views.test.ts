import { expect, test } from "vitest";
import { runRandom } from "./run.ts";
import { findScenario } from "./scenarios.ts";
import { streamScenarios } from "./stream-scenarios.ts";

test.each(streamScenarios.map(({ name }) => name))("a schedule of %s is the same each time", async (name) => {
	const run = () => runRandom(findScenario(name), 7, { record: true, settles: true });
	const first = await run();
	expect(first.violation).toBeUndefined();
	expect(first.history.some(({ what }) => what.startsWith("opens its watch of pods"))).toBe(true);
	expect((await run()).history).toEqual(first.history);
});
