// Prints as JSON the files that a few schedules of every scenario enter, by V8's coverage. Counting begins after everything is loaded, so a
// file that is only imported does not count.
import { Session } from "node:inspector/promises";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { drivenSources } from "./driven-sources.ts";
import { loadDriven } from "./load-driven.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Enough to enter all driven files. */
const schedulesOfEach = 2;
const seed = 1;

loadDriven(drivenSources(undefined));
Error.stackTraceLimit = 0;
const [{ runJob }, { scenarios }] = await Promise.all([import("./job-runner.ts"), import("./scenarios.ts")]);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: false });
for (const { name } of scenarios) {
	const job = { kind: "random", scenario: name, seed, from: 0, count: schedulesOfEach, settles: true } as const;
	const { failure } = await runJob(job);
	if (failure) throw new Error(`${name} failed: ${failure.violation.message}`);
}
const { result } = await session.post("Profiler.takePreciseCoverage");
const entered = result.flatMap(({ url, functions }) => {
	const isEntered = functions.some(({ ranges: [range] }) => range && range.startOffset > 0 && range.count > 0);
	return isEntered && url.startsWith("file:") ? [relative(root, fileURLToPath(url)).split(sep).join("/")] : [];
});
console.log(JSON.stringify(entered));
