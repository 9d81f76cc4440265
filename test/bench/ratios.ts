// Lists the ratios with their meaning and goals.
export interface Ratio {
	readonly name: string;
	/** What is compared with what. "the same" refers to the ratio before it. */
	readonly what: string;
	/** Left out if the ratio is only reported. */
	readonly goal?: { readonly better: "lower" | "higher"; readonly value: number };
}

const lower = (value: number) => ({ better: "lower", value }) as const;
const higher = (value: number) => ({ better: "higher", value }) as const;

export const ratios: readonly Ratio[] = [
	{
		name: "drain_vs_kubectl",
		what: "a node of 100 pods in each of three clusters, over kubectl drain x 3",
		goal: lower(0.4),
	},
	{ name: "drain_vs_bare", what: "the same, over bare eviction calls until the last pod is gone", goal: lower(1.3) },
	{
		name: "estimate_within",
		what: "drains in thought that ended within the range that their plan gave, part of 200",
		goal: higher(0.8),
	},
	{ name: "estimate_widest", what: "the longest of those estimates over the shortest, at most", goal: lower(4) },
	{
		name: "rate_vs_xpdb_design",
		what: "evictions a minute under one budget with room, over 12",
		goal: higher(100),
	},
	{ name: "rate_vs_bare", what: "the same, over bare calls with the same concurrency", goal: higher(0.7) },
	{
		name: "contention",
		what: "six evictors on one budget: grants a second, over one evictor's",
		goal: higher(0.9),
	},
	{
		name: "decision_over_bare_ms",
		what: "one eviction at a time, p50, minus a bare one's",
		goal: lower(20),
	},
	{ name: "decision_over_bare_ms_p99", what: "the same, p99", goal: lower(60) },
	{
		name: "evict_start_vs_kubectl",
		what: "a pod without a budget: kubectl xpdb evict's start to its eviction, over kubectl drain's",
		goal: lower(1.6),
	},
	{ name: "evict_start_3_contexts_vs_kubectl", what: "the same with the contexts of all three clusters" },
	{
		name: "budgets_vs_get",
		what: "kubectl-xpdb budgets of one budget, over kubectl get of its pods",
		goal: lower(1.93),
	},
	{ name: "writes_per_eviction", what: "Lease writes by the audit logs, in batches of ten", goal: lower(0.7) },
	{ name: "rounds_scale", what: "100 budgets at once: rounds a second, over one budget's", goal: higher(3) },
	{ name: "agent_rss_mb", what: "memory of an idle agent", goal: lower(70) },
	{ name: "count_ms_10k", what: "Count of a budget of 500 pods among 10,000, p50", goal: lower(4) },
	{ name: "agent_rss_mb_10k", what: "memory of an agent with 10,000 pods", goal: lower(110) },
	{ name: "agent_ready_ms_10k", what: "an agent's start to ready with 10,000 pods", goal: lower(3000) },
	...["2k", "20k"].flatMap((size) => [
		{
			name: `replica_sets_${size}_count`,
			what: `Count of a budget of 500 pods in the namespace of most of ${size} ReplicaSets without pods, p50, over the same without them`,
		},
		{ name: `replica_sets_${size}_count_cpu`, what: "the agent's processor time for each of these, over the same" },
		{ name: `replica_sets_${size}_first_count_ms`, what: "the first of these counts after the agent's start" },
		{ name: `replica_sets_${size}_ready_cpu`, what: "the agent's processor time until it is ready, over the same" },
		{ name: `replica_sets_${size}_rss`, what: "its memory, over the same" },
		{ name: `replica_sets_${size}_peak_mb`, what: "its most memory, MB: its limit is 224", goal: lower(224) },
		{ name: `replica_sets_${size}_wait_agent_percent`, what: "the agent while a drain waits there, percent of a core" },
		{ name: `replica_sets_${size}_wait_read_mb`, what: "what it reads of its API server meanwhile, MB a second" },
	]),
	{
		name: "scale_first_count_ms_few",
		what: "the first acquisition of a new budget of 100 pods among 20,000, p50",
		goal: lower(50),
	},
	{ name: "scale_first_count_ms", what: "the same among 150,000", goal: lower(100) },
	{ name: "scale_count_100", what: "Count of 100 pods among 150,000, p50, over among 20,000", goal: lower(1.3) },
	{ name: "scale_count_many", what: "the same of 10,000 pods", goal: lower(1.3) },
	{
		name: "scale_ready_vs_stream",
		what: "an agent's start to ready with 150,000 pods, over the API server's own stream of them",
		goal: lower(1.5),
	},
	{ name: "scale_agent_mb", what: "memory of an agent with 150,000 pods", goal: lower(110) },
	{ name: "scale_agent_peak_mb", what: "the most of it, at its start and when it lists again", goal: lower(150) },
	{ name: "scale_bytes_a_pod", what: "memory of an agent for each pod more, bytes", goal: lower(110) },
	{
		name: "scale_restart_s",
		what: "an API server's readiness after a restart, with 150,000 pods, to the first count",
		goal: lower(2),
	},
	{ name: "scale_restart_lists", what: "lists of all pods after that restart", goal: lower(2) },
	{
		name: "scale_budgets_vs_get",
		what: "budgets -A of 5,000 budgets in each of three clusters, over kubectl get in each at once",
		goal: lower(5),
	},
	{ name: "scale_budgets_mb", what: "the plugin's memory meanwhile, MB", goal: lower(150) },
	{ name: "scale_check_s", what: "check of these three clusters", goal: lower(5) },
	{ name: "list_budgets_ms_1k", what: "ListBudgets of 1,000 budgets, p50" },
	{ name: "list_budgets_agent_ms_1k", what: "the agents' processor time for each of these" },
	...["between", "everywhere"].flatMap((place) =>
		[20, 80].map((ms) => ({
			name: `links_${ms}_${place}_vs_xpdb_design`,
			what: `what ${ms} ms on the links ${place === "between" ? "between clusters and to API servers from outside" : "of all kinds"} add to an eviction, over x-pdb's design by calculation`,
		})),
	),
	{
		name: "big_drain_vs_kubectl",
		what: "1,000 pods in each of three clusters, over kubectl drain x 3",
		goal: lower(0.6),
	},
	{ name: "big_drain_vs_100", what: "the same, over 100 pods in each", goal: lower(11) },
	{ name: "big_plugin_mb_per_1000", what: "memory of the plugin for each 1,000 pods more, MB" },
	{ name: "wan_rate", what: "evictions with 80 ms on each link, over those without", goal: higher(0.3) },
	{ name: "wan_drain_s", what: "the drain with 80 ms on each link" },
	{
		name: "ui_first_frame_ms",
		what: "start of budgets -w to its first frame, with contexts and columns",
		goal: lower(150),
	},
	{ name: "ui_first_frame_cpu_ms", what: "processor time of the process by then" },
	{
		name: "ui_first_row_over_list",
		what: "start of budgets -w to its first row, over that of budgets without -w",
		goal: lower(1.5),
	},
	{ name: "ui_complete_ms", what: "completion of a budget's name, start to end of the program, p50", goal: lower(300) },
	{ name: "ui_complete_ms_p99", what: "the same, p99", goal: lower(300) },
	{ name: "ui_complete_cpu_ms", what: "processor time of each" },
	{
		name: "ui_complete_first_answered",
		what: "the part of first keys with the cluster's names within 300 ms",
		goal: higher(0.9),
	},
	{ name: "ui_complete_second_answered", what: "the same of second keys, a second later", goal: higher(0.95) },
	{ name: "ui_idle_budgets_percent", what: "budgets -w of 1,000 budgets, idle, percent of a core", goal: lower(1) },
	{ name: "ui_idle_drain_percent", what: "a drain that waits, on its screen, percent of a core", goal: lower(1) },
	{ name: "ui_key_ms", what: "key to frame, idle, p50", goal: lower(50) },
	{ name: "ui_key_ms_p99", what: "the same, p99", goal: lower(50) },
	{ name: "ui_busy_key_ms_p99", what: "the same with 50 changes a second", goal: lower(50) },
	{ name: "ui_busy_plugin_percent", what: "plugin with 50 changes a second, percent of a core", goal: lower(10) },
	{ name: "ui_busy_agent_percent", what: "the busiest agent meanwhile", goal: lower(5) },
	{ name: "ui_busy_frames_a_second", what: "frames on the terminal meanwhile", goal: lower(4) },
	{ name: "ui_busy_bytes_a_frame", what: "bytes of each, 140 columns, 40 rows" },
	{
		name: "ui_busy_plugin_memory",
		what: "plugin's memory, minutes 9 and 10 over 3 and 4: flat or not",
		goal: lower(1.1),
	},
	{ name: "ui_busy_agent_memory", what: "the same of the busiest agent", goal: lower(1.1) },
	{ name: "ui_report_s", what: "report of a drain of 5,000 pods", goal: lower(1) },
	{ name: "ui_report_cpu_s", what: "its processor time" },
	{ name: "ui_report_mb", what: "its page, MB", goal: lower(3) },
];

export function isMet({ goal }: Ratio, value: number): boolean | undefined {
	if (!goal) return undefined;
	return goal.better === "lower" ? value <= goal.value : value >= goal.value;
}
