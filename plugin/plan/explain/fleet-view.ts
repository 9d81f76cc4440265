// Connects to the members of the fleet that answer, because users ask why nothing moves while a cluster is missing. Partial answers are
// shown, but they never allow an eviction.
import { connectFleet, uncoveredWarning } from "../../fleet/connect-fleet.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { FleetUncoveredError } from "../../terminal/errors.ts";

export interface FleetView {
	/** Undefined if no cluster has agents or budgets, or if no member answers. In the second case, `problems` says why. */
	readonly fleet: FleetOfView | undefined;
	/** Why contexts or members do not answer. While there is a problem, no pod may be reported as allowed. */
	readonly problems: readonly string[];
}

export type FleetOfView = Pick<
	Fleet,
	"members" | "descriptions" | "memberOf" | "contextOf" | "listBudgets" | "agentNamespaces"
>;

/** Tries each context alone if all together reach no fleet. Call `close` afterwards. */
export async function viewFleet(contexts: readonly KubeContext[]): Promise<FleetView & { readonly close: () => void }> {
	try {
		return await connected(contexts, []);
	} catch (error) {
		if (!(error instanceof FleetUncoveredError)) throw error;
		const problems = error.details.length > 0 ? error.details : [error.message];
		const alone = contexts.length > 1 ? contexts : [];
		const [view, ...others] = (await Promise.all(alone.map((context) => connectedAlone(context, problems))))
			.filter(({ fleet }) => fleet !== undefined)
			.toSorted((x, y) => (y.fleet?.descriptions.size ?? 0) - (x.fleet?.descriptions.size ?? 0));
		for (const { close } of others) close();
		if (view) return view;
		return { fleet: undefined, problems, close: () => undefined };
	}
}

async function connectedAlone(
	context: KubeContext,
	problems: readonly string[],
): Promise<FleetView & { readonly close: () => void }> {
	try {
		return await connected([context], problems);
	} catch (error) {
		if (!(error instanceof FleetUncoveredError)) throw error;
		return { fleet: undefined, problems, close: () => undefined };
	}
}

async function connected(contexts: readonly KubeContext[], problems: readonly string[]) {
	const { fleet } = await connectFleet(contexts, { mayMiss: true });
	return {
		fleet,
		problems: [...new Set([...problems, ...(fleet?.problems ?? [])])],
		close: () => fleet?.close(),
	};
}

export function membersOf({ fleet, problems }: FleetView) {
	const members = fleet?.members ?? [];
	return {
		problems,
		clusters: members.map(({ name }) => name),
		answering: members.filter(({ id }) => fleet?.descriptions.has(id)).map(({ name }) => name),
		contexts: new Map(
			members.flatMap(({ id, name }) => {
				const context = fleet?.contextOf(id);
				return context === undefined ? [] : [[name, context] as const];
			}),
		),
	};
}

/** Warns about a cluster without agents. Empty while members do not answer. */
export function uncoveredNotes({ fleet, problems }: FleetView, { name }: KubeContext): readonly string[] {
	if (problems.length > 0 || fleet?.memberOf(name)) return [];
	return [`${name === "" ? "" : `${name}: `}${uncoveredWarning}`];
}
