// Builds messages about budgets, so that rounds, plans and explanations use the same words.
import type { MislabelledWorkload } from "./cluster.ts";

const mostNamed = 3;

interface Numbers {
	readonly need?: number | undefined;
	readonly healthy?: number | undefined;
	readonly expected?: number | undefined;
}

/** Says why the budget allows nothing at this moment. `name` is NAMESPACE/NAME. */
export function exhaustedText(name: string, { need, healthy, expected }: Numbers): string {
	return expected === 0
		? `budget ${name} expects no pods, its controllers are scaled to 0: that allows nothing`
		: `budget ${name} has no disruption left: ${healthy}${expected === undefined ? "" : ` of ${expected}`} healthy, ${need} required`;
}

/** Names the mislabelled workloads, for the end of a message. "" if there are none. */
export function mislabelledText(workloads: readonly (MislabelledWorkload & { readonly cluster: string })[]): string {
	const texts = workloads.map(({ cluster, kind, namespace, name, wants, others }) => {
		const pods = others === 1 ? "1 of its pods has" : `${others} of its pods have`;
		return `; ${kind} ${namespace}/${name} in cluster ${cluster} wants ${wants}, but ${pods} labels that the budget does not select`;
	});
	return (
		texts.slice(0, mostNamed).join("") + (texts.length > mostNamed ? `; and ${texts.length - mostNamed} more` : "")
	);
}

/** Says that the budget never allows a disruption. `healthy` is the largest possible number of healthy pods. */
export function neverMetText(name: string, bound: string, { need, healthy, expected }: Numbers): string {
	const all = expected === undefined ? `and at best has ${healthy}` : `of ${expected} expected pods`;
	return `budget ${name} with ${bound} needs ${need} healthy ${all}: that leaves none to disrupt`;
}
