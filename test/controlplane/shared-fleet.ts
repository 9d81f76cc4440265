import { describe, inject } from "vitest";

/** The fleet of a worker that runs real-cluster suites, as other processes see it. */
export type SharedFleet = {
	readonly dir: string;
	readonly octet: number;
	/** Has two contexts for each cluster: one as its administrator, and one as the operator, whose name ends in "-operator". */
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
 * describe() for tests on the shared fleet. If there is no fleet, or `missing` says that something else is not available, the suite is
 * skipped, and its name says why.
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

/**
 * Returns the clusters that run the oldest Kubernetes in a fleet that a suite starts itself: the last cluster if the shared fleet has such
 * a cluster, otherwise none.
 */
export function oldestOfOwnFleet(clusters: number): readonly string[] {
	return sharedFleet().oldest.length === 0 ? [] : [`c${clusters}`];
}

/** Returns the fleet of this worker, for hooks and tests inside describeOnFleet(). Elsewhere there may be none, which is an error. */
export function sharedFleet(): SharedFleet {
	const fleets = inject("fleets");
	if ("unavailable" in fleets) throw new Error(`There is no fleet: ${fleets.unavailable}`);
	// Vitest numbers its workers from 1.
	const fleet = fleets[Number(process.env["VITEST_POOL_ID"]) - 1];
	if (fleet === undefined) throw new Error(`There is no fleet for worker ${process.env["VITEST_POOL_ID"]}`);
	return fleet;
}
