import { describe, inject } from "vitest";

/** The fleet of a vitest worker. */
export type SharedFleet = {
	readonly dir: string;
	readonly octet: number;
	/** Has two contexts per cluster: the administrator's, and the operator's with "-operator" appended. */
	readonly kubeconfigPath: string;
	readonly contexts: readonly string[];
	/** The clusters that run the oldest Kubernetes. */
	readonly oldest: readonly string[];
	readonly clusters: readonly {
		readonly name: string;
		readonly id: string;
		readonly server: string;
		readonly dir: string;
		readonly auditLog: string;
	}[];
};

declare module "vitest" {
	export interface ProvidedContext {
		fleets: readonly SharedFleet[] | { readonly unavailable: string };
	}
}

/**
 * describe() for tests on the shared fleet. Skips the suite if there is no fleet, or if `missing` gives the reason why something else is
 * not available.
 */
export function describeOnFleet(
	name: string,
	suite: () => void,
	options: { readonly concurrent?: boolean; readonly missing?: string | undefined } = {},
): void {
	const { missing, ...rest } = options;
	const fleets = inject("fleets");
	const reason = "unavailable" in fleets ? fleets.unavailable : missing;
	if (reason === undefined) describe(name, rest, suite);
	else describe.skip(`${name} (skipped: ${reason})`, suite);
}

/** For a suite that starts its own fleet: returns the last cluster's name if the shared fleet has clusters of the oldest Kubernetes. */
export function oldestOfOwnFleet(clusters: number): readonly string[] {
	return sharedFleet().oldest.length === 0 ? [] : [`c${clusters}`];
}

/** Returns this worker's fleet, for hooks and tests inside describeOnFleet(). Throws if there is none. */
export function sharedFleet(): SharedFleet {
	const fleets = inject("fleets");
	if ("unavailable" in fleets) throw new Error(`There is no fleet: ${fleets.unavailable}`);
	// Vitest numbers its workers from 1.
	const fleet = fleets[Number(process.env["VITEST_POOL_ID"]) - 1];
	if (fleet === undefined) throw new Error(`There is no fleet for worker ${process.env["VITEST_POOL_ID"]}`);
	return fleet;
}
