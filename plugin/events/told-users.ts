import type { UnavailablePod } from "../../disruption/budget/cluster.ts";
import type { UsedBy } from "./events.ts";

/** Converts the pods that use up a budget to their form in events. `holder`: the identity of this run. */
export function toldUsers(
	pods: readonly (UnavailablePod & { readonly cluster: string })[],
	holder: string,
): readonly UsedBy[] {
	return pods.map(({ name, ...used }) => ({ ...used, pod: name, ...(used.holder === holder && { own: true }) }));
}
