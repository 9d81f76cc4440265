// Matches contexts to members, even if a cluster's agents or API server do not answer. Without a match, one cluster would appear twice: as
// a context without an answer, and as a member without a context.
import type { FleetMember } from "../../disruption/budget/fleet.ts";

export interface IdentifiedContext {
	readonly context: string;
	/** The id of its cluster, as its API server or its agents report it; undefined if neither answers. */
	readonly id: string | undefined;
}

export interface MemberContexts {
	/** By the member's id. */
	readonly contextOf: ReadonlyMap<string, string>;
	/** Contexts that may lead to any of the unmatched members. */
	readonly unknown: readonly string[];
}

/**
 * Matches a context to the member with its cluster's id. A context without an id is matched to the member of its name. If one context and
 * one member remain, they are matched to each other.
 */
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
