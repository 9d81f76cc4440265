// Starts fleets in which one member runs the oldest supported Kubernetes.
import type { TestProject } from "vitest/node";
import { startSharedFleets } from "./global-setup.ts";

/** c1 runs the newest Kubernetes, because suites that need only one cluster use it. */
const oldest = ["c3"];

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, oldest);
}
