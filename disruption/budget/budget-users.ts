// Who uses a budget up: whether there is something new to say of it.
import type { UnavailablePod } from "./cluster.ts";

export interface BudgetUser extends Omit<UnavailablePod, "why"> {
	readonly cluster: string;
	readonly why: string;
	/** The one who is told evicts it. */
	readonly own?: boolean;
}

/**
 * The same for as long as there is nothing new to say: ages pass, pods start step by step, and what somebody evicts they say
 * anyway.
 */
export function usersKey(users: readonly BudgetUser[]): string {
	const keys = users.map(({ own = false, ...user }) =>
		own
			? ""
			: `${user.namespace}/${user.name} in ${user.cluster} ${user.holder === undefined ? troubleOf(user) : `by ${user.holder}`}`,
	);
	return [...new Set(keys)].toSorted().join("\n");
}

/** What comes after it is about preemption. */
export function firstSentence(message: string): string {
	return message.replace(/\.(?:\s.*)?$/s, "");
}

/** What somebody may have to see to. */
function troubleOf({ why, state = "", message = "" }: Omit<BudgetUser, "own">): string {
	if (why !== "NotReady") return why;
	if (message !== "") return firstSentence(message);
	if (/^(?:Pending|ContainerCreating|PodInitializing|Running|NotReady|Init:\d+\/\d+)?$/.test(state)) return "";
	// A container that crashes goes round these.
	return /BackOff$|Error$|^OOMKilled$|ExitCode:|Signal:/.test(state) ? "fails" : state;
}
