// How a thread loads the driven code: with points at its awaits, and with a mutant if one is asked for. Both have to be in place before
// any of that code is loaded.
import type { AwaitPoints } from "./await-points.ts";

export async function loadDriven(mutantName: string | undefined, points: AwaitPoints): Promise<void> {
	const { loadAwaitPoints } = await import("./await-points.ts");
	const { simulateTime } = await import("./simulated-time.ts");
	simulateTime();
	if (mutantName === undefined) return loadAwaitPoints(points);
	const [{ loadMutant, mutatedSources }, { findMutant }] = await Promise.all([
		import("./mutant.ts"),
		import("./mutants.ts"),
	]);
	const mutant = findMutant(mutantName);
	loadMutant(mutant);
	loadAwaitPoints(points, mutatedSources(mutant));
}
