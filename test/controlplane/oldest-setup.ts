// Starts fleets in which most clusters run the oldest supported Kubernetes.
import type { TestProject } from "vitest/node";
import { startSharedFleets } from "./global-setup.ts";

/** c1 is one of them, because suites that need only one cluster use it. */
const oldest = ["c1", "c3"];

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, oldest);
}
