// Lists all suites, each with the smallest size that runs it. A newcomer runs `npm test`, continuous integration runs `--all`, and
// `--nightly` runs everything.
import { availableParallelism } from "node:os";
import { join } from "node:path";

export const sizes = ["quick", "all", "nightly"] as const;
export type Size = (typeof sizes)[number];

/** The command that includes suites of this size. */
export const flagOf: Readonly<Record<Size, string>> = {
	quick: "npm test",
	all: "npm test -- --all",
	nightly: "npm test -- --nightly",
};

/** Go programs besides the control plane, as test/controlplane/prepare.ts builds them. */
export type ProgramName = "oldest" | "krew" | "helm" | "flux";

/** Tests on real clusters. All chosen suites of this kind share one run of vitest and its fleets. */
export interface ClusterSuite {
	readonly kind: "clusters";
	readonly name: string;
	readonly size: Size;
	/** Paths from the repository's root. A folder ends with a slash. */
	readonly files: readonly string[];
	readonly programs?: readonly ProgramName[];
}

export interface CommandSuite {
	readonly kind: "command";
	readonly name: string;
	readonly size: Size;
	/**
	 * - "first": before the real clusters, because unit tests have timeouts.
	 * - "beside": at low priority beside all the others, for long computations.
	 * - "after": with clusters of its own, after the real clusters. All of these run at the same time.
	 * - "alone": at the end, one after the other, for suites that compare times or load the clusters.
	 */
	readonly when: "first" | "beside" | "after" | "alone";
	/** Begins with the script that Node runs. `folder` belongs to this run and is removed at its end. */
	readonly command: (folder: string) => readonly [string, ...string[]];
	readonly environment?: Readonly<Record<string, string>>;
	/** Whether it writes a SuiteReport to the path in XPDB_SUITE_REPORT. Otherwise it counts as one test, by its exit code. */
	readonly reports?: boolean;
	readonly programs?: readonly ProgramName[];
}

/**
 * The number of real fleets. On two cores, a third fleet would save 4 of 25 minutes, but the machine would be too slow for tests of waiting
 * times.
 */
const fleets = Math.max(2, Math.min(4, availableParallelism()));

export type Suite = ClusterSuite | CommandSuite;

/** `files` are paths or prefixes of paths. */
export function vitestCommand(
	project: "e2e" | "mixed" | "oldest",
	files: readonly string[],
): readonly [string, ...string[]] {
	return ["node_modules/vitest/vitest.mjs", "run", `--project=${project}`, `--maxWorkers=${fleets}`, ...files];
}

const e2e = (...names: readonly string[]): readonly string[] => names.map((name) => `test/e2e/${name}.e2e.test.ts`);

export const clusterSuites: readonly ClusterSuite[] = [
	{
		kind: "clusters",
		name: "evictions",
		size: "quick",
		files: e2e("evict", "drain", "waiting", "dry-run", "budgets", "check", "agent-crashes", "plugin-crashes"),
	},
	{
		kind: "clusters",
		name: "commands",
		size: "all",
		files: [
			...e2e(
				"bad-input",
				"budgets-watch",
				"completion",
				"expected-pods",
				"explain",
				"json",
				"lease-list",
				"lease-release",
				"not-recovered",
				"operations",
				"operators-evening",
				"plan",
				"relabelled",
				"stranded-pods",
				"suspend",
				"verbosity",
			),
			"test/plugin/",
			"test/demo/",
		],
	},
	{
		kind: "clusters",
		name: "fleets",
		size: "all",
		files: [
			...e2e("fleet-life", "install-obstacles", "ipv6", "member-forgotten", "member-leaves", "sidecar"),
			"test/agent/chart.e2e.test.ts",
			"test/agent/cluster-api/",
		],
		programs: ["helm"],
	},
	// The suite "fleets" covers installing by hand, and test/plugin/picture/ covers the curves of a report.
	{
		kind: "clusters",
		name: "variants",
		size: "nightly",
		files: e2e("gitops", "install-variants", "report-audit"),
		programs: ["helm", "flux"],
	},
	{ kind: "clusters", name: "findings", size: "all", files: ["test/e2e/check/"] },
	{ kind: "clusters", name: "faults", size: "all", files: ["test/e2e/faults/"] },
	{ kind: "clusters", name: "hostile", size: "all", files: ["test/e2e/hostile/"] },
	{ kind: "clusters", name: "parity", size: "all", files: ["test/e2e/parity/"] },
	{ kind: "clusters", name: "kubernetes", size: "all", files: ["test/kubernetes/", "test/controlplane/"] },
	{
		kind: "clusters",
		name: "programs",
		size: "all",
		files: ["test/scripts/executable.e2e.test.ts", "test/krew/"],
		programs: ["krew"],
	},
	// The suite "hostile" has the same floods in front of real API servers.
	{ kind: "clusters", name: "floods", size: "nightly", files: ["test/agent/floods.e2e.test.ts"] },
	// Takes minutes, because the image is built from Debian's packages.
	{ kind: "clusters", name: "image", size: "nightly", files: ["test/scripts/image.e2e.test.ts"] },
];

/**
 * Tests that depend on API servers' answers, and the commands that people use most. In these fleets, c1 and c3 run the oldest Kubernetes.
 */
const onTheOldest = [
	"test/kubernetes/budget-rules.e2e.test.ts",
	"test/kubernetes/real-server.e2e.test.ts",
	...e2e("hostile/policies", "evict", "drain", "suspend", "budgets", "check/installation"),
];

/** Suites with the same `when` run in this order. Those of "after" run at the same time. */
export const commandSuites: readonly CommandSuite[] = [
	{
		kind: "command",
		name: "check",
		size: "quick",
		when: "first",
		command: () => ["scripts/check.ts"],
		reports: true,
	},
	{
		kind: "command",
		name: "exploration",
		size: "quick",
		when: "beside",
		command: () => ["test/explore/main.ts", "--mutants", "--tries=1"],
	},
	{
		kind: "command",
		name: "fuzzing",
		size: "quick",
		when: "beside",
		command: () => ["test/fuzz/main.ts", "--inputs=60000"],
	},
	{
		kind: "command",
		name: "benchmark once",
		size: "all",
		when: "after",
		command: () => ["test/bench/main.ts", "--once"],
	},
	{
		kind: "command",
		name: "soak",
		size: "all",
		when: "after",
		command: () => ["test/soak/main.ts", "--minutes=1"],
	},
	{
		kind: "command",
		name: "exploration, three seeds",
		size: "nightly",
		when: "beside",
		command: () => ["test/explore/main.ts", "--schedules=100000", "--seed=2", "--mutants"],
	},
	{
		kind: "command",
		name: "packages",
		size: "nightly",
		when: "beside",
		command: (folder) => [
			"scripts/package/main.ts",
			`--output=${join(folder, "packages")}`,
			"--url=https://example.com/releases",
		],
	},
	{
		kind: "command",
		name: "packages in krew",
		size: "nightly",
		when: "beside",
		command: (folder) => ["test/krew/validate-packages.ts", `--packages=${join(folder, "packages")}`],
		programs: ["krew"],
	},
	{
		kind: "command",
		name: "image for arm64",
		size: "nightly",
		when: "beside",
		command: (folder) => ["scripts/image/main.ts", "--only=arm64", `--output=${join(folder, "image")}`],
	},
	{
		kind: "command",
		name: "kubectl anew",
		size: "nightly",
		when: "alone",
		command: () => vitestCommand("e2e", e2e("parity/parity", "parity/node-management", "parity/kubeconfig")),
		environment: { XPDB_KUBECTL: "play" },
		reports: true,
	},
	{
		kind: "command",
		name: "oldest Kubernetes",
		size: "nightly",
		when: "alone",
		command: () => vitestCommand("oldest", onTheOldest),
		reports: true,
		programs: ["oldest"],
	},
	{
		kind: "command",
		name: "benchmark",
		size: "nightly",
		when: "alone",
		command: () => ["test/bench/main.ts"],
	},
	{
		kind: "command",
		name: "long soak",
		size: "nightly",
		when: "alone",
		command: () => ["test/soak/main.ts", "--minutes=10"],
	},
];

/** The test files that take longest, longest first. */
export const longFiles: readonly string[] = e2e(
	"fleet-life",
	"install-obstacles",
	"parity/parity",
	"bad-input",
	"hostile/policies",
	"suspend",
	"hostile/members",
	"explain",
	"check/installation",
	"check/agents",
	"operations",
);

export function hasFile({ files }: ClusterSuite, path: string): boolean {
	return files.some((file) => path === file || (file.endsWith("/") && path.startsWith(file)));
}

export function suiteOf(path: string): ClusterSuite | undefined {
	return clusterSuites.find((suite) => hasFile(suite, path));
}
