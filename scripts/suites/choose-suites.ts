// Chooses the suites of a run of `npm test`, by size or by name.
import {
	type ClusterSuite,
	clusterSuites,
	type CommandSuite,
	commandSuites,
	flagOf,
	type ProgramName,
	type Size,
	sizes,
	type Suite,
} from "./suites.ts";

export interface Choice {
	readonly clusters: readonly ClusterSuite[];
	readonly commands: readonly CommandSuite[];
	/** The project of vitest. In "mixed", one member of each fleet runs the oldest Kubernetes. */
	readonly project: "e2e" | "mixed";
	/** Go programs that the chosen suites need besides the control plane. */
	readonly programs: readonly ProgramName[];
	/** Reported as skipped, for example "faults (npm test -- --all has it)". */
	readonly leftOut: readonly string[];
}

const allSuites: readonly Suite[] = [...commandSuites, ...clusterSuites];

/**
 * Chooses the suites that `only` names. If it is empty, chooses all suites of the size and of smaller sizes.
 *
 * @throws Error for a name that no suite has.
 */
export function chooseSuites({ size, only }: { readonly size: Size; readonly only: readonly string[] }): Choice {
	const unknown = only.filter((name) => !allSuites.some((suite) => suite.name === name));
	if (unknown.length > 0) {
		const names = allSuites.map(({ name }) => `"${name}"`).join(", ");
		throw new Error(`no suite is called "${unknown.join('" or "')}". There are ${names}`);
	}
	const isChosen = (suite: Suite): boolean =>
		only.length > 0 ? only.includes(suite.name) : sizes.indexOf(suite.size) <= sizes.indexOf(size);
	const leftOut = only.length > 0 ? [] : allSuites.filter((suite) => !isChosen(suite));
	const chosen = allSuites.filter(isChosen);
	const clusters = clusterSuites.filter(isChosen);
	// A newcomer should not have to wait until a second Kubernetes is built.
	const project = clusters.every((suite) => suite.size === "quick") ? "e2e" : "mixed";
	const oldest: readonly ProgramName[] = project === "mixed" ? ["oldest"] : [];
	return {
		clusters,
		project,
		commands: commandSuites.filter(isChosen),
		programs: [...new Set([...oldest, ...chosen.flatMap(({ programs = [] }) => programs)])],
		leftOut: leftOut.map((suite) => `${suite.name} (${flagOf[suite.size]} has it)`),
	};
}
