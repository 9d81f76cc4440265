// Describes the pods that use up a budget, for example "shop/cart-1 in c2: Pending 9m, 0/3 nodes are available". Older agents report less.
import { firstSentence, usersKey } from "../../disruption/budget/budget-users.ts";
import { formatAge } from "../flags/duration.ts";
import type { UsedBy } from "./events.ts";

interface UsedByStyle {
	/** In ms since the epoch. */
	readonly at: number;
	readonly most?: number;
	/** Leaves out the scheduler's words. */
	readonly brief?: boolean;
}

export function usedByText(usedBy: readonly UsedBy[], { at, most = 3, brief = false }: UsedByStyle): string {
	const shown = usedBy.slice(0, most).map((used) => `${nameOf(used)}: ${stateText(used, at, brief)}`);
	return withMore(shown, "; ", usedBy.length - most);
}

export function waitText(
	{ message, usedBy = [] }: { readonly message: string; readonly usedBy?: readonly UsedBy[] },
	at: number,
): string {
	return `${message}${usedBySuffix(usedByText(usedBy, { at }))}`;
}

export function usedBySuffix(users: string): string {
	return users === "" ? "" : `; used by ${users}`;
}

/** For when the pods' states have just been shown. */
export function usedByNames(usedBy: readonly UsedBy[], most = 3): string {
	return withMore(usedBy.slice(0, most).map(nameOf), ", ", usedBy.length - most);
}

/** Unchanged while there is nothing new to report. */
export function usedByKey(usedBy: readonly UsedBy[]): string {
	return usersKey(usedBy.map(({ pod, ...user }) => ({ ...user, name: pod })));
}

export function whenItFrees({
	why,
	state,
	message,
	replacement,
}: Pick<UsedBy, "why" | "state" | "message"> & { readonly replacement?: "none" | "unneeded" }): string {
	const ends = why === "Reserved" ? "evicted" : "gone";
	if (replacement === "none") return `no controller replaces it when it is ${ends}`;
	if (replacement === "unneeded") return `when it is ${ends}, no other pod has to become ready`;
	if (why === "Reserved") return "frees when it is evicted and its replacement is ready, or its reservation ends";
	if (why === "Terminating") return "frees when it is gone and its replacement is ready";
	if (message !== undefined && message !== "") return `frees when Ready; no node takes it: ${message}`;
	return state === undefined
		? "frees when Ready"
		: `frees when Ready (now ${state}${state === "Running" ? ", not ready" : ""})`;
}

function withMore(shown: readonly string[], separator: string, more: number): string {
	return `${shown.join(separator)}${more > 0 ? ` and ${more} more` : ""}`;
}

function nameOf({ cluster, namespace, pod }: Pick<UsedBy, "cluster" | "namespace" | "pod">): string {
	return `${namespace}/${pod} in ${cluster}`;
}

function stateText(used: UsedBy, at: number, brief: boolean): string {
	const { why, state, holder, own = false, sinceSeconds, message = "" } = used;
	const age = sinceSeconds === undefined ? "" : ` ${formatAge(at - sinceSeconds * 1_000)}`;
	const by = own ? " by this run" : holder === undefined ? "" : ` by ${holder}`;
	if (why === "Reserved") return `being evicted${by}${age && ` for${age}`}`;
	const evicted = by && `, evicted${by}`;
	// Older agents report a time only if the pod was granted.
	if (state === undefined) {
		return `${why === "Terminating" ? "terminating" : "not ready"}${evicted}${evicted && age && `${age} ago`}`;
	}
	const words = brief || message === "" ? "" : `, ${firstSentence(message)}`;
	return `${state}${state === "Running" ? ", not ready" : ""}${age}${words}${evicted}`;
}
