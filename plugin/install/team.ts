// Reads who may drain: groups that decide about all budgets, and teams. Each team has its own account, which decides only about the budgets
// of its namespaces.
import { quote } from "../../disruption/quote.ts";
import { UsageError } from "../terminal/errors.ts";

export interface Team {
	/** The ServiceAccount in the agents' namespace whose tokens authenticate the team's users to the agents. */
	readonly account: string;
	readonly groups: readonly string[];
	/** The namespaces about whose budgets the team decides. */
	readonly namespaces: readonly string[];
}

export interface Operators {
	/** The groups that decide about all budgets. */
	readonly groups: readonly string[];
	/** One entry for each account. */
	readonly teams: readonly Team[];
}

/** Reads `--operators`: GROUP, or GROUP=ACCOUNT:NAMESPACE,… The last "=" separates, because group names can contain one. */
export function readOperators(texts: readonly string[]): Operators {
	const groups: string[] = [];
	const teams = new Map<string, Team>();
	for (const text of texts) {
		const at = text.lastIndexOf("=");
		const group = readGroup(at === -1 ? text : text.slice(0, at));
		const rights = at === -1 ? "" : text.slice(at + 1);
		if (rights === "") {
			groups.push(group);
			continue;
		}
		const { account, namespaces } = readRights(rights, text);
		const known = teams.get(account);
		if (known && known.namespaces.join() !== namespaces.join()) {
			throw new UsageError(
				`--operators gives account ${quote(account)} different namespaces`,
				"Every user of an account has all of its rights: give each group its own account",
			);
		}
		teams.set(account, { account, groups: [...new Set([...(known?.groups ?? []), group])], namespaces });
	}
	return { groups, teams: [...teams.values()] };
}

function readGroup(text: string): string {
	if (text.trim() !== "" && !/[\p{Cc}\p{Cf}]/u.test(text)) return text;
	throw new UsageError(`--operators has a name that is not a group: ${quote(text)}`);
}

function readRights(rights: string, text: string): Omit<Team, "groups"> {
	const [, account, list] = /^([^:]+):([^:]+)$/.exec(rights) ?? [];
	if (account === undefined || list === undefined) {
		throw new UsageError(
			`--operators is neither GROUP nor GROUP=ACCOUNT:NAMESPACE,...: ${quote(text)}`,
			"A group that has = in its own name has another one behind it: cn=sre,ou=ops=",
		);
	}
	// The account's name is also the value of a label, which can have at most 63 characters.
	if (!/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(account)) {
		throw new UsageError(`--operators names an account that none can have: ${quote(account)}`);
	}
	if (/^(xpdb-.*|default)$/.test(account)) {
		throw new UsageError(
			`--operators names ${account}, which is not a team's account`,
			"Name one of the team's own: team-shop",
		);
	}
	const namespaces = [...new Set(list.split(","))];
	const bad = namespaces.find((namespace) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace));
	if (bad !== undefined) throw new UsageError(`--operators names a namespace that none can have: ${quote(bad)}`);
	return { account, namespaces };
}

/** Returns, for example, 'group "team-shop" of account team-shop: decides about the budgets of shop, web and no others'. */
export function teamText({ account, groups, namespaces }: Team): string {
	const who = groups.map(quote).join(", ");
	return `${groups.length === 1 ? "group" : "groups"} ${who} of account ${account}: decides about the budgets of ${namespaces.join(", ")} and no others`;
}
