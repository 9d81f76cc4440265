// All scenarios: small worlds, each for a few safeguards.
import { configScenarios } from "./config-scenarios.ts";
import { reservationScenarios } from "./reservation-scenarios.ts";
import { roundScenarios } from "./round-scenarios.ts";
import type { Scenario } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [...roundScenarios, ...reservationScenarios, ...configScenarios];

export function findScenario(name: string): Scenario {
	const found = scenarios.find((scenario) => scenario.name === name);
	if (found) return found;
	throw new Error(`There is no scenario "${name}": there are ${scenarios.map((scenario) => scenario.name).join(", ")}`);
}
