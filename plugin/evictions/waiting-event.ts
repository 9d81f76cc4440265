// Builds the events about pods that have to wait, for people and programs.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { preActivityPrefix } from "../../disruption/budget/pod.ts";
import type { Wait as GrantWait } from "../../disruption/round/wait.ts";
import type { RunEvent, UsedBy, WaitSum } from "../events/events.ts";
import { toldUsers } from "../events/told-users.ts";
import type { Reason } from "../events/reason.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";

export interface Wait {
	readonly reason: Reason;
	readonly message: string;
	readonly budget?: string;
	readonly need?: number;
	readonly healthy?: number;
	readonly expected?: number;
	readonly usedBy?: readonly UsedBy[];
}

/** Converts a wait for a grant. `holder` identifies this run. */
export function waitOf(job: EvictionJob, wait: GrantWait, holder: string): Wait {
	const { reason, message, budget, need, healthy, expected, preActivities = [], usedBy } = wait;
	return {
		reason,
		message: preActivities.length > 0 ? `${message}; done, it is cleared by ${clearing(job, preActivities)}` : message,
		...(budget && { budget: formatBudgetName(budget) }),
		...(need !== undefined && { need }),
		...(healthy !== undefined && { healthy }),
		...(expected !== undefined && { expected }),
		...(usedBy && { usedBy: toldUsers(usedBy, holder) }),
	};
}

/** Returns the event for what a pod would wait for, in a dry run. */
export function pretendedWaitEvent(job: EvictionJob, wait: Wait): RunEvent {
	const { retryAfterMs: _, ...event } = waitingEvent(job, wait, 0);
	return { ...event, dryRun: "server" };
}

export function waitingEvent(
	job: EvictionJob,
	wait: Wait,
	retryAfterMs: number,
): Extract<RunEvent, { type: "pod.waiting" }> {
	const { reason, message, budget, need, healthy, expected, usedBy = [] } = wait;
	return {
		type: "pod.waiting",
		...podEvent(job),
		reason,
		message,
		...(budget !== undefined && { budget }),
		...(need !== undefined && { need }),
		...(healthy !== undefined && { healthy }),
		...(expected !== undefined && { expected }),
		// The published schema requires an integer.
		retryAfterMs: Math.round(retryAfterMs),
		usedBy,
	};
}

type Told = Pick<Wait, "reason" | "budget" | "usedBy">;

/**
 * Groups the waits by budget, or by reason if they name no budget. The largest group comes first. Pods of one budget wait for the same
 * thing, whatever was last reported about each.
 */
export function sumWaits(waits: readonly Told[]): readonly WaitSum[] {
	const sums = [...Map.groupBy(waits, ({ reason, budget }) => budget ?? reason).values()].flatMap((alike) => {
		const [first] = alike;
		if (!first) return [];
		const { reason, budget, usedBy = [] } = first;
		return [{ pods: alike.length, reason, ...(budget !== undefined && { budget }), usedBy }];
	});
	return sums.toSorted((a, b) => b.pods - a.pods);
}

/** Returns the command with which a person removes pre-activities if the process that runs them is gone. */
function clearing({ context, pod }: EvictionJob, preActivities: readonly string[]): string {
	const annotations = preActivities.map((name) => `${preActivityPrefix}${name}-`);
	return context.suggest.kubectl(["annotate", "pod", pod.name, "-n", pod.namespace, ...annotations], context.name);
}
