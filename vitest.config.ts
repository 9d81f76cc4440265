import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/suites/longest-first.ts";
import { SuiteReporter } from "./scripts/suites/suite-reporter.ts";

// Set by scripts that count a run's tests.
const reportPath = process.env["XPDB_SUITE_REPORT"];

// Starting a fleet takes seconds, and a drain of three clusters takes a minute or two on two busy cores. A test that hangs should end
// before a person gives up on the run.
const realClusterTimeoutMs = 5 * 60_000;

function onRealClusters(name: string, setup: string) {
	return {
		test: {
			name,
			include: ["test/**/*.e2e.test.ts"],
			globalSetup: [setup],
			// The files of a worker share a fleet. `npm test` requests two or more workers (scripts/suites/suites.ts).
			maxWorkers: 1,
			testTimeout: realClusterTimeoutMs,
			hookTimeout: realClusterTimeoutMs,
		},
	};
}

export default defineConfig({
	test: {
		reporters: reportPath === undefined ? ["default"] : [new SuiteReporter(reportPath)],
		sequence: { sequencer: LongestFirst },
		projects: [
			{
				test: {
					name: "unit",
					include: ["test/**/*.test.{ts,tsx}"],
					exclude: ["test/**/*.e2e.test.ts"],
					// Loading every module anew for each file takes as long as the tests. Modules keep no state. test/architecture.test.ts checks that
					// shared modules register no hooks, which would run only for the first file that imports them.
					isolate: false,
					// A file that forgets to end a spy would change the files after it.
					restoreMocks: true,
					unstubGlobals: true,
					// At least two, because many tests wait.
					maxWorkers: Math.max(2, availableParallelism() - 1),
					// Some tests start processes or bundle everything. That takes seconds, and half a minute on a busy machine.
					testTimeout: 90_000,
					hookTimeout: 90_000,
				},
			},
			onRealClusters("e2e", "test/controlplane/global-setup.ts"),
			// Like "e2e", but in each fleet, one of the three members ("mixed") or two of them ("oldest") run the oldest Kubernetes.
			onRealClusters("mixed", "test/controlplane/mixed-setup.ts"),
			onRealClusters("oldest", "test/controlplane/oldest-setup.ts"),
		],
	},
});
