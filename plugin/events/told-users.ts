import type { UnavailablePod } from "../../disruption/budget/cluster.ts";
import type { UsedBy } from "./events.ts";

/** Returns the pods that use up a budget, in the form that events have. `holder`: the holder identity of this run. */
export function toldUsers(
	pods: readonly (UnavailablePod & { readonly cluster: string })[],
	holder: string,
): readonly UsedBy[] {
	return pods.map(({ name, ...used }) => ({ ...used, pod: name, ...(used.holder === holder && { own: true }) }));
}
