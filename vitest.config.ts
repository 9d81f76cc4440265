import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/suites/longest-first.ts";
import { SuiteReporter } from "./scripts/suites/suite-reporter.ts";

// Set by scripts that count a run's tests.
const reportPath = process.env["XPDB_SUITE_REPORT"];

// Starting a fleet takes seconds, a drain of three clusters a minute or two on two busy cores; a test that hangs should
// still end before a person gives up on the run.
const realClusterTimeoutMs = 5 * 60_000;

function onRealClusters(name: string, setup: string) {
	return {
		test: {
			name,
			include: ["test/**/*.e2e.test.ts"],
			globalSetup: [setup],
			// The files of a worker share a fleet. Most tests wait for clocks, so two fleets fit two cores: npm test asks for them.
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
					// A process of its own for each file, with every module loaded anew, takes as long again as the tests. Modules
					// keep no state, and test/architecture.test.ts sees that none registers hooks for the first file alone.
					isolate: false,
					// Not one less than there are cores: many tests wait, and where there are two cores there would be one worker.
					maxWorkers: Math.max(2, availableParallelism() - 1),
					// Some start processes or bundle all there is: seconds, and half a minute where ten others want each core.
					testTimeout: 90_000,
					hookTimeout: 90_000,
				},
			},
			onRealClusters("e2e", "test/controlplane/global-setup.ts"),
			// The same with the oldest Kubernetes as one member of each fleet, and as two of three.
			onRealClusters("mixed", "test/controlplane/mixed-setup.ts"),
			onRealClusters("oldest", "test/controlplane/oldest-setup.ts"),
		],
	},
});
