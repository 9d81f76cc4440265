// All scenarios: small worlds, each for a few safeguards.
import { commandScenarios } from "./command-scenarios.ts";
import { configScenarios } from "./config-scenarios.ts";
import { drainScenarios } from "./drain-scenarios.ts";
import { engineScenarios } from "./engine-scenarios.ts";
import { finishedScenarios } from "./finished-scenarios.ts";
import { kindScenarios } from "./kind-scenarios.ts";
import { lateBudgetScenarios } from "./late-budget-scenarios.ts";
import { meetingScenarios } from "./meeting-scenarios.ts";
import { memberScenarios } from "./member-scenarios.ts";
import { nativeBudgetScenarios } from "./native-budget-scenarios.ts";
import { preActivityScenarios } from "./pre-activity-scenarios.ts";
import { reservationScenarios } from "./reservation-scenarios.ts";
import { roundScenarios } from "./round-scenarios.ts";
import type { Scenario } from "./scenario.ts";
import { stagedCancelScenarios } from "./staged-cancel-scenarios.ts";
import { stagedEngineScenarios } from "./staged-engine-scenarios.ts";
import { stagedReservationScenarios } from "./staged-reservation-scenarios.ts";
import { coveredSinceScenarios } from "./covered-since-scenarios.ts";
import { stagedRoundScenarios } from "./staged-round-scenarios.ts";
import { stagedViewScenarios } from "./staged-view-scenarios.ts";
import { streamScenarios } from "./stream-scenarios.ts";
import { surgeScenarios } from "./surge-scenarios.ts";
import { wireScenarios } from "./wire-scenarios.ts";
import { workloadScenarios } from "./workload-scenarios.ts";
import type { World } from "./world.ts";

export const scenarios: readonly Scenario<World>[] = [
	...roundScenarios,
	...stagedRoundScenarios,
	...coveredSinceScenarios,
	...reservationScenarios,
	...stagedReservationScenarios,
	...configScenarios,
	...kindScenarios,
	...stagedCancelScenarios,
	...stagedViewScenarios,
	...workloadScenarios,
	...surgeScenarios,
	...memberScenarios,
	...engineScenarios,
	...stagedEngineScenarios,
	...lateBudgetScenarios,
	...wireScenarios,
	...streamScenarios,
	...commandScenarios,
	...finishedScenarios,
	...preActivityScenarios,
	...nativeBudgetScenarios,
	...drainScenarios,
	...meetingScenarios,
];

export function findScenario(name: string): Scenario<World> {
	const found = scenarios.find((scenario) => scenario.name === name);
	if (found) return found;
	throw new Error(`There is no scenario "${name}": there are ${scenarios.map((scenario) => scenario.name).join(", ")}`);
}
