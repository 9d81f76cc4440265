// Detects whether there is something new to report about the pods that use up a budget.
import type { UnavailablePod } from "./cluster.ts";

export interface BudgetUser extends Omit<UnavailablePod, "why"> {
	readonly cluster: string;
	readonly why: string;
	/** The reader's own run evicts this pod. */
	readonly own?: boolean;
}

/**
 * Returns a key that changes when there is something new to report. It leaves out ages, the steps in which pods start, and evictions of the
 * reader's own run.
 */
export function usersKey(users: readonly BudgetUser[]): string {
	const keys = users.map(({ own = false, ...user }) =>
		own
			? ""
			: `${user.namespace}/${user.name} in ${user.cluster} ${user.holder === undefined ? troubleOf(user) : `by ${user.holder}`}`,
	);
	return [...new Set(keys)].toSorted().join("\n");
}

/** Returns the first sentence of the scheduler's message. The rest is about preemption. */
export function firstSentence(message: string): string {
	return message.replace(/\.(?:\s.*)?$/s, "");
}

/** Returns "" while the pod passes through the usual steps of starting. */
function troubleOf({ why, state = "", message = "" }: Omit<BudgetUser, "own">): string {
	if (why !== "NotReady") return why;
	if (message !== "") return firstSentence(message);
	if (/^(?:Pending|ContainerCreating|PodInitializing|Running|NotReady|Init:\d+\/\d+)?$/.test(state)) return "";
	// A crashing container passes through these states again and again.
	return /BackOff$|Error$|^OOMKilled$|ExitCode:|Signal:/.test(state) ? "fails" : state;
}
