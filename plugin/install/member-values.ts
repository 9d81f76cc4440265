// Reads the values of flags that are for one member, MEMBER=VALUE, or for all members, VALUE. Pure.
import { quote } from "../../disruption/quote.ts";
import { UsageError } from "../terminal/errors.ts";

/** `names`: the member's name in the fleet, and its context's name. */
export interface NamedMember {
	readonly context: string;
	readonly names: readonly string[];
}

/** `context` is undefined if the value is for all members. */
export interface MemberValue {
	readonly context: string | undefined;
	readonly value: string;
}

export interface ValueForm {
	/** Whether a text with "=" is a value for all members. By default, none is. */
	readonly isValue?: (text: string) => boolean;
	/** Ends the hint that lists the members. */
	readonly hint?: string;
	readonly mayBeEmpty?: boolean;
}

/** A name may contain any character, even "=", so the longest matching name counts. */
export function readMemberValues(
	flag: string,
	texts: readonly string[],
	members: readonly NamedMember[],
	{ isValue = () => false, hint = "", mayBeEmpty = false }: ValueForm = {},
): readonly MemberValue[] {
	const names = members
		.flatMap(({ context, names: all }) => all.map((name) => ({ context, name })))
		.toSorted((a, b) => b.name.length - a.name.length);
	return texts.map((text) => {
		const found = names.find(({ name }) => text.startsWith(`${name}=`));
		const value = found ? text.slice(found.name.length + 1) : text;
		if (value === "" && !mayBeEmpty) {
			throw new UsageError(`--${flag} has no value for ${found?.name ?? "any member"}: ${quote(text)}`);
		}
		if (!found && text.includes("=") && !isValue(text)) {
			const all = members.flatMap(({ names: [name] }) => name ?? []);
			throw new UsageError(
				`--${flag} names no member that has a context here: ${quote(text)}`,
				`There are ${all.join(", ")}${hint}`,
			);
		}
		return { context: found?.context, value };
	});
}

export function ownValues(values: readonly MemberValue[], context: string): readonly string[] {
	return values.flatMap((each) => (each.context === context ? [each.value] : []));
}

export function sharedValues(values: readonly MemberValue[]): readonly string[] {
	return values.flatMap(({ context, value }) => (context === undefined ? [value] : []));
}

export function refuseTwice(flag: string, values: readonly MemberValue[]): void {
	const seen = new Set<string | undefined>();
	for (const { context } of values) {
		if (seen.has(context)) throw new UsageError(`--${flag} says two things of ${context ?? "all members"}`);
		seen.add(context);
	}
}
