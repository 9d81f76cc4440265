import { describe, inject } from "vitest";

/** The one fleet of a run of the real-cluster suites, as far as it can be told to another process. */
export type SharedFleet = {
	readonly dir: string;
	readonly octet: number;
	/** Has a context for each cluster as its administrator, and one named with "-operator" as the operator. */
	readonly kubeconfigPath: string;
	readonly contexts: readonly string[];
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
		fleet: SharedFleet | { readonly unavailable: string };
	}
}

/** describe() for tests on the shared fleet: where no fleet can be had, each of them is skipped by name, with the reason. */
export function describeOnFleet(name: string, suite: () => void): void {
	const fleet = inject("fleet");
	if ("unavailable" in fleet) {
		describe.skip(`${name} (skipped: ${fleet.unavailable})`, suite);
	} else {
		describe(name, suite);
	}
}

/** The fleet, for hooks and tests inside describeOnFleet(); outside of them there may be none. */
export function sharedFleet(): SharedFleet {
	const fleet = inject("fleet");
	if ("unavailable" in fleet) throw new Error(`There is no fleet: ${fleet.unavailable}`);
	return fleet;
}
