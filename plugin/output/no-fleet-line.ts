export function noFleetLine(contexts: readonly { readonly name: string }[]): string {
	const where = contexts.length > 1 ? contexts.map(({ name }) => name).join(", ") : "this cluster";
	return `No xpdb agent and no XPodDisruptionBudget in ${where}: 'kubectl xpdb install --help' says how a fleet is made`;
}
