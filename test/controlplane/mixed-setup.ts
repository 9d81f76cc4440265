// The gate's fleets: one member of the oldest Kubernetes, so that whatever spans the fleet spans two versions.
import type { TestProject } from "vitest/node";
import { startSharedFleets } from "./global-setup.ts";

/** Suites that need one cluster alone work in c1. */
const oldest = ["c3"];

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, oldest);
}
