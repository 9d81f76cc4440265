// All mutants of the exploration. Each lacks a safeguard of the design or repeats a mistake of an earlier draft. The membership model has
// mutants of its own (membership-mutants.ts).
import { cancellationMutants } from "./cancellation-mutants.ts";
import { commandMutants } from "./command-mutants.ts";
import { decisionMutants } from "./decision-mutants.ts";
import { drainMutants } from "./drain-mutants.ts";
import { engineMutants } from "./engine-mutants.ts";
import { finishedMutants } from "./finished-mutants.ts";
import { listingMutants } from "./listing-mutants.ts";
import { kindMutants } from "./kind-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { nativeBudgetMutants } from "./native-budget-mutants.ts";
import { preActivityMutants } from "./pre-activity-mutants.ts";
import { reservationMutants } from "./reservation-mutants.ts";
import { roundMutants } from "./round-mutants.ts";
import { unwrittenMutants } from "./unwritten-mutants.ts";
import { streamMutants } from "./stream-mutants.ts";
import { wireMutants } from "./wire-mutants.ts";
import { meetingMutants } from "./meeting-mutants.ts";
import { projectionMutants } from "./projection-mutants.ts";
import { workloadMutants } from "./workload-mutants.ts";

export const mutants: readonly Mutant[] = [
	...roundMutants,
	...decisionMutants,
	...unwrittenMutants,
	...reservationMutants,
	...listingMutants,
	...cancellationMutants,
	...engineMutants,
	...kindMutants,
	...workloadMutants,
	...wireMutants,
	...streamMutants,
	...commandMutants,
	...drainMutants,
	...meetingMutants,
	...projectionMutants,
	...finishedMutants,
	...preActivityMutants,
	...nativeBudgetMutants,
];

export function findMutant(name: string): Mutant {
	const found = mutants.find((mutant) => mutant.name === name);
	if (found) return found;
	throw new Error(`There is no mutant "${name}": there are ${mutants.map((mutant) => mutant.name).join(", ")}`);
}
