import type { UnavailablePod } from "../../disruption/budget/cluster.ts";
import type { UsedBy } from "./events.ts";

/** The pods that use a budget up, as events tell them. `holder`: who this run is. */
export function toldUsers(
	pods: readonly (UnavailablePod & { readonly cluster: string })[],
	holder: string,
): readonly UsedBy[] {
	return pods.map(({ name, ...used }) => ({ ...used, pod: name, ...(used.holder === holder && { own: true }) }));
}
