// Decides which member the fleet forgets, and which lists change. Pure.
import type { ForgottenMember } from "../../disruption/budget/fleet.ts";
import { quote } from "../../disruption/quote.ts";
import { UsageError } from "../terminal/errors.ts";
import { hasForgotten, type MemberList } from "./member-list.ts";

export interface ForgetPlan {
	readonly member: Required<ForgottenMember>;
	/** Lists that do not forget the member yet. */
	readonly todo: readonly MemberList[];
	/** Lists that already forget it. */
	readonly done: readonly MemberList[];
	readonly survivors: readonly ForgottenMember[];
	/** Remaining members whose lists were not read. While their lists differ from the others, nothing is evicted. */
	readonly unseen: readonly string[];
}

/** `word`: the name or id of a member, of a forgotten cluster, or of a cluster in `missed`. Throws UsageError. */
export function planForgetting(
	lists: readonly MemberList[],
	word: string,
	missed: readonly ForgottenMember[] = [],
): ForgetPlan {
	const member = findMember(lists, word, missed);
	const own = lists.find(({ clusterId }) => clusterId === member.id);
	if (own) {
		throw new UsageError(
			`${own.context.name} leads to ${member.name} itself, which answers: the others forget a member, and it keeps its own list`,
			`Leave its context out; to take a living cluster out of the fleet, forget it in the others and uninstall it there`,
		);
	}
	const names = new Map(lists.flatMap(({ fleet }) => fleet.members.map(({ id, name }) => [id, name] as const)));
	names.delete(member.id);
	const seen = new Set(lists.map(({ clusterId }) => clusterId));
	const last = lists.find(({ fleet }) => fleet.members.every(({ id }) => id === member.id));
	if (last) throw new UsageError(`${last.context.name}: its list would be empty without ${member.name}`);
	return {
		member,
		todo: lists.filter((list) => !hasForgotten(list, member.id)),
		done: lists.filter((list) => hasForgotten(list, member.id)),
		survivors: [...names].map(([id, name]) => ({ id, name })),
		unseen: [...names].flatMap(([id, name]) => (seen.has(id) ? [] : [name])),
	};
}

function findMember(
	lists: readonly MemberList[],
	word: string,
	missed: readonly ForgottenMember[],
): Required<ForgottenMember> {
	const listed = lists.flatMap(({ fleet }) => fleet.members);
	const others = [...lists.flatMap(({ fleet }) => fleet.forgotten), ...missed];
	// A member comes before a forgotten cluster of the same name: a cluster that was created anew has another id.
	const groups: readonly (readonly ForgottenMember[])[] = [listed, others];
	for (const group of groups) {
		const found = group.filter(({ id, name }) => id === word || name === word);
		const [id, ...more] = new Set(found.map((each) => each.id));
		if (id === undefined) continue;
		if (more.length > 0) {
			throw new UsageError(
				`${quote(word)} is the name of several clusters`,
				`Name one by its id: ${[id, ...more].join(", ")}`,
			);
		}
		return { id, name: found.find(({ name }) => name !== undefined)?.name ?? id };
	}
	const names = [...new Set(listed.map(({ name }) => name))].join(", ");
	throw new UsageError(`${quote(word)} is not a member of the fleet; its members are ${names}`);
}
