// A thread that runs the model of members over one mutant, which must be loaded first.
import { parentPort, workerData } from "node:worker_threads";
import { membershipMutants } from "./membership-mutants.ts";
import { loadMutant } from "./mutant.ts";

const { name, most } = workerData as { readonly name: string; readonly most: number };
const mutant = membershipMutants.find((each) => each.name === name);
if (!mutant) throw new Error(`There is no mutant "${name}"`);
loadMutant(mutant);
const { exploreMembership, membershipScenarios } = await import("./membership-model.ts");
let violation: string | undefined;
for (const scenario of membershipScenarios) {
	if (violation !== undefined || !mutant.scenarios.includes(scenario.name)) continue;
	({ violation } = await exploreMembership(scenario, most));
}
parentPort?.postMessage(violation);
