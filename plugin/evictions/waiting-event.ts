// What people and programs hear of a pod that has to wait.
import { formatBudgetName } from "../../disruption/budget.ts";
import { preActivityPrefix } from "../../disruption/pod.ts";
import type { Waiting } from "../../disruption/verdict.ts";
import type { RunEvent } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { commandLine } from "../terminal/command-line.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";

/** Why it waits: a verdict of a round, or a reason that came from elsewhere. */
export type WaitReason = Partial<Omit<Waiting, "kind" | "reason">> & {
	readonly reason: Reason;
	readonly message: string;
};

/** What a dry run would wait for. */
export function pretendedWaitEvent(job: EvictionJob, waiting: WaitReason): RunEvent {
	const { retryAfterMs: _, ...event } = waitingEvent(job, waiting, 0);
	return { ...event, dryRun: "server" };
}

export function waitingEvent(
	job: EvictionJob,
	waiting: WaitReason,
	retryAfterMs: number,
): Extract<RunEvent, { type: "pod.waiting" }> {
	const { reason, message, budget, need, healthy, expected, preActivities = [], usedBy = [] } = waiting;
	return {
		type: "pod.waiting",
		...podEvent(job),
		reason,
		message: preActivities.length > 0 ? `${message}; done, it is cleared by ${clearing(job, preActivities)}` : message,
		...(budget && { budget: formatBudgetName(budget) }),
		...(need !== undefined && { need }),
		...(healthy !== undefined && { healthy }),
		...(expected !== undefined && { expected }),
		retryAfterMs,
		usedBy: usedBy.map(({ name, ...used }) => ({ ...used, pod: name })),
	};
}

/** What takes pre-activities off: by whoever does them, or by hand where nobody is left who would. */
function clearing({ context, pod }: EvictionJob, preActivities: readonly string[]): string {
	const annotations = preActivities.map((name) => `${preActivityPrefix}${name}-`);
	const words = ["kubectl", "annotate", "pod", pod.name, "-n", pod.namespace, ...annotations];
	return commandLine([...words, "--context", context.name]);
}
