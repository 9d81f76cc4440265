// The same suites on fleets of two versions: agents of the oldest Kubernetes and of the newest lease from each other, and one run
// of the plugin works in both.
import type { TestProject } from "vitest/node";
import { startSharedFleets } from "./global-setup.ts";

/** Those that suites work in where they need one cluster alone; c2 is of the newest. */
const oldest = ["c1", "c3"];

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, oldest);
}
