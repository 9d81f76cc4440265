// Starts the fleets of the project "mixed": one member runs the oldest Kubernetes, so every test that uses the whole fleet uses two
// versions.
import type { TestProject } from "vitest/node";
import { startSharedFleets } from "./global-setup.ts";

/** Suites that need only one cluster use c1. */
const oldest = ["c3"];

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, oldest);
}
