// Which context leads to which member, also while the agents or the API server behind it give no answer: without it one cluster would be
// shown as two, a context without an answer and a member without a context.
import type { FleetMember } from "../../disruption/budget/fleet.ts";

export interface IdentifiedContext {
	readonly context: string;
	/** Of its cluster, as its API server or its agents say it; undefined where neither answers. */
	readonly id: string | undefined;
}

export interface MemberContexts {
	/** By the member's id. */
	readonly contextOf: ReadonlyMap<string, string>;
	/** Contexts that may lead to any of the members that are left. */
	readonly unknown: readonly string[];
}

/** Of a context that says nothing: the member of its name, or the only one that is left for the only such context. */
export function matchMembers(
	contexts: readonly IdentifiedContext[],
	members: readonly Pick<FleetMember, "id" | "name">[],
): MemberContexts {
	const contextOf = new Map(contexts.flatMap(({ context, id }) => (id === undefined ? [] : [[id, context] as const])));
	const unknown = new Set(contexts.flatMap(({ context, id }) => (id === undefined ? [context] : [])));
	const match = (id: string, context: string): void => {
		contextOf.set(id, context);
		unknown.delete(context);
	};
	for (const { id, name } of members) if (!contextOf.has(id) && unknown.has(name)) match(id, name);
	const [member, ...others] = members.filter(({ id }) => !contextOf.has(id));
	const [context] = unknown;
	if (member && context !== undefined && others.length === 0 && unknown.size === 1) match(member.id, context);
	return { contextOf, unknown: [...unknown] };
}
