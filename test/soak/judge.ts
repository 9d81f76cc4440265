// Judges whether the budgets held, from the audit logs alone.
import type { AuditEvent } from "../../demo/audit/audit.ts";
import { type AvailabilitySample, replayAvailability } from "../../demo/audit/availability.ts";
import { namespace, type Workload } from "./workload.ts";

export interface Verdict {
	readonly workload: string;
	/** The number of our disruptions. If other clients must leave the workload alone, theirs count, too. */
	readonly evictions: number;
	/** The disruptions after which fewer pods were healthy than the budget requires. Pods that others had just taken count as healthy. */
	readonly violations: readonly AvailabilitySample[];
	/** The fewest healthy pods at any moment, minus those that the budget requires. 0 means that the budget was used up. */
	readonly deepest: number;
}

/** The plugin's user. Other users ignore the budget. */
export const operator = "alice";
/**
 * How long pods that others took may still be in the count on which our eviction rests, in microseconds. A reservation is used up to 30 s
 * after its count, and a request may take 10 s to arrive.
 */
const foreignUs = 45_000_000;

export function judge(events: readonly AuditEvent[], workload: Workload, clusters: number): Verdict {
	const expected = workload.replicas * clusters;
	const { budget, isDisturbed } = workload;
	const needed = "minAvailable" in budget ? budget.minAvailable : expected - budget.maxUnavailable;
	const samples = replayAvailability(events, { namespace, matchLabels: { app: workload.name }, expected });
	const complete = samples.findIndex(({ healthy }) => healthy >= expected);
	const violations: AvailabilitySample[] = [];
	let evictions = 0;
	let deepest = Number.POSITIVE_INFINITY;
	let foreign: number[] = [];
	for (const sample of complete === -1 ? [] : samples.slice(complete)) {
		deepest = Math.min(deepest, sample.healthy - needed);
		if (!sample.disruption) continue;
		if (sample.user !== operator && isDisturbed) {
			foreign.push(sample.at);
			continue;
		}
		evictions += 1;
		foreign = foreign.filter((at) => sample.at - at < foreignUs);
		if (sample.healthy + foreign.length < needed) violations.push(sample);
	}
	return { workload: workload.name, evictions, violations, deepest };
}

/** Returns when our evictions were accepted, in microseconds since 1970. */
export function evictionTimes(events: readonly AuditEvent[]): readonly number[] {
	return events
		.filter(
			({ resource, code, user, dryRun }) =>
				resource === "pods/eviction" && code === 201 && user === operator && !dryRun,
		)
		.map(({ completedAt }) => completedAt);
}
