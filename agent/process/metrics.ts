// Defines the agent's metrics for Prometheus.
import { readHeapUse } from "./heap-guard.ts";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** The earliest expiry in each file. */
export interface CertificateExpiry {
	readonly certificateAt: Date;
	readonly caAt: Date;
}

interface MetricsSources {
	readonly reservations: () => number;
	readonly waiting: () => number;
	readonly watchers: () => number;
	readonly pods: () => number;
	/** Infinite while the watch on pods is broken. */
	readonly viewSilentMs: () => number;
	/** How long the last list of all pods took. Undefined before the first one. */
	readonly podListMs: () => number | undefined;
	readonly certificateExpiry: () => CertificateExpiry;
	/** Undefined until the fleet has been read. */
	readonly members: () => Readonly<Record<"listed" | "forgotten" | "missing", number>> | undefined;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * From a Lease write (3 ms) to the deadline of most calls (5 s). Counts may take longer, and so may Acquire, which includes the time in
 * line.
 */
const callBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/**
 * Up to the lease duration of 10 s, and more for renewed leases: renewals end after 5 minutes (`longestHoldMs`), and the last one may last
 * another 10 s.
 */
const heldBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 310];

export function createMetrics({ version }: { readonly version: string }) {
	let sources: Partial<MetricsSources> = {};
	const registry = new Registry();
	const registers = [registry];
	collectDefaultMetrics({ register: registry });
	new Gauge({
		name: "xpdb_agent_info",
		help: "1; the version is in the label",
		labelNames: ["version"],
		registers,
	}).set({ version }, 1);
	gauge("xpdb_reservations", "Pods that are granted and count as unavailable", "reservations");
	gauge("xpdb_waiting_callers", "Callers that wait in line for a Lease", "waiting");
	gauge("xpdb_budget_watchers", "Callers that watch budgets", "watchers");
	gauge("xpdb_pods", "Pods in the agent's view", "pods");
	function gauge(name: string, help: string, source: "reservations" | "waiting" | "watchers" | "pods"): void {
		const collect = function (this: Gauge): void {
			this.set(sources[source]?.() ?? 0);
		};
		registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
	}
	registry.registerMetric(
		new Gauge({
			name: "xpdb_view_silent_seconds",
			help: "How long the watch on pods has shown no sign of life; +Inf while it is broken. From 5 s on, counts come from lists",
			registers: [],
			collect() {
				this.set((sources.viewSilentMs?.() ?? Number.POSITIVE_INFINITY) / 1000);
			},
		}),
	);
	registry.registerMetric(
		new Gauge({
			name: "xpdb_view_list_seconds",
			help: "How long the last list of all pods took",
			registers: [],
			collect() {
				const ms = sources.podListMs?.();
				if (ms !== undefined) this.set(ms / 1000);
			},
		}),
	);
	registry.registerMetric(
		new Gauge({
			name: "xpdb_heap_limit_bytes",
			help: "The heap with which the agent ends; nodejs_heap_size_used_bytes is what it uses, with garbage",
			registers: [],
			collect() {
				this.set(readHeapUse().limit);
			},
		}),
	);
	registry.registerMetric(
		new Gauge({
			name: "xpdb_certificate_expiry_timestamp_seconds",
			help: "When the first certificate in the file expires, by file: the agent's own certificate, or the fleet's CA",
			labelNames: ["file"],
			registers: [],
			collect() {
				const expiry = sources.certificateExpiry?.();
				if (!expiry) return;
				this.set({ file: "certificate" }, expiry.certificateAt.getTime() / 1000);
				this.set({ file: "ca" }, expiry.caAt.getTime() / 1000);
			},
		}),
	);
	registry.registerMetric(
		new Gauge({
			name: "xpdb_members",
			help: "Clusters by state: listed in xpdb-fleet, forgotten there, or missing there though they are known",
			labelNames: ["state"],
			registers: [],
			collect() {
				for (const [state, count] of Object.entries(sources.members?.() ?? {})) this.set({ state }, count);
			},
		}),
	);
	return {
		registry,
		/** Adds sources for the gauges. A gauge without a source shows 0 or nothing. */
		readFrom(more: Partial<MetricsSources>): void {
			sources = { ...sources, ...more };
		},
		calls: new Histogram({
			name: "xpdb_call_seconds",
			help: "Calls by method, port and gRPC status; Acquire includes the time in line",
			labelNames: ["method", "port", "code"],
			buckets: callBuckets,
			registers,
		}),
		acquires: new Counter({
			name: "xpdb_acquires_total",
			help: "Answers to Acquire: acquired or held",
			labelNames: ["outcome"],
			registers,
		}),
		heldSeconds: new Histogram({
			name: "xpdb_lease_held_seconds",
			help: "From the answer to Acquire to commit or release through this agent",
			buckets: heldBuckets,
			registers,
		}),
		commits: new Counter({
			name: "xpdb_commits_total",
			help: "Commits by outcome: stood, lost or full",
			labelNames: ["outcome"],
			registers,
		}),
		grants: new Counter({ name: "xpdb_grants_total", help: "Pods granted by commits that stood", registers }),
		watchRestarts: new Counter({
			name: "xpdb_watch_restarts_total",
			help: "Watches that ended and were opened again",
			labelNames: ["resource"],
			registers,
		}),
		greetings: new Counter({
			name: "xpdb_greetings_total",
			help: "Greetings to other members: answered, failed, or unimplemented by an older agent",
			labelNames: ["outcome"],
			registers,
		}),
		problems: new Counter({
			name: "xpdb_problems_total",
			help: "Problems beside an answer, by reason; each one is in the log",
			labelNames: ["reason"],
			registers,
		}),
	};
}
