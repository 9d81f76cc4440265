// Runs the same suites on fleets of two versions: agents in clusters of the oldest and of the newest Kubernetes take part in the same
// rounds, and one run of the plugin works in both.
import type { TestProject } from "vitest/node";
import { startSharedFleets } from "./global-setup.ts";

/** Suites that need only one cluster use these. c2 runs the newest Kubernetes. */
const oldest = ["c1", "c3"];

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, oldest);
}
