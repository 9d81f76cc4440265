// The fleet as the ConfigMap `xpdb-fleet` declares it: key `members`, a list in YAML or JSON.
import { parserProblem } from "../disruption/parser-problem.ts";
import { quote, shorten } from "../disruption/quote.ts";
import type { FleetMember } from "./cluster-api.ts";

/** The declaration cannot be used as it is written; the message names the entry. */
export class InvalidFleetError extends Error {
	override readonly name = "InvalidFleetError";
	readonly reason = "InvalidFleet";
}

export const fleetMembersKey = "members";

/** Reads the ConfigMap's `members`. Throws InvalidFleetError: a fleet that is misread is a cluster that is not counted. */
export async function parseFleetMembers(text: string): Promise<readonly FleetMember[]> {
	const list = await parseList(text);
	if (!Array.isArray(list)) throw new InvalidFleetError(`${fleetMembersKey} is not a list`);
	if (list.length === 0) throw new InvalidFleetError(`${fleetMembersKey} is empty`);
	const members = list.map((entry: unknown, index) => parseMember(entry, `${fleetMembersKey}[${index}]`));
	for (const field of ["id", "name"] as const) {
		const seen = new Set<string>();
		for (const member of members) {
			if (seen.has(member[field])) throw new InvalidFleetError(`two members have the ${field} ${quote(member[field])}`);
			seen.add(member[field]);
		}
	}
	return members;
}

function parseMember(entry: unknown, path: string): FleetMember {
	if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
		throw new InvalidFleetError(`${path} is not an object`);
	}
	const fields: Record<string, unknown> = { ...entry };
	const text = (field: string): string => {
		const value = fields[field];
		if (typeof value !== "string" || value.trim() === "") throw new InvalidFleetError(`${path}.${field} is not a text`);
		// They are shown to people and sent to others.
		if (/\p{Cc}/u.test(value) || !value.isWellFormed() || value.length > 253) {
			throw new InvalidFleetError(`${path}.${field} has control characters or more than 253: ${quote(value)}`);
		}
		return value;
	};
	for (const field of Object.keys(fields)) {
		if (!["id", "name", "address"].includes(field))
			throw new InvalidFleetError(`${path}.${shorten(field)} is not known`);
	}
	const member = { id: text("id"), name: text("name"), address: text("address") };
	const port = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):([1-9][0-9]{0,4})$/.exec(member.address)?.[1];
	if (port === undefined || Number(port) > 65_535) {
		throw new InvalidFleetError(`${path}.address is not HOST:PORT: ${quote(member.address)}`);
	}
	return member;
}

/** JSON first: the YAML parser is loaded only where it is needed, for the agent's memory. */
async function parseList(text: string): Promise<unknown> {
	try {
		const list: unknown = JSON.parse(text);
		return list;
	} catch {
		const { parse } = await import("yaml");
		try {
			const list: unknown = parse(text, { logLevel: "error" });
			return list;
		} catch (error) {
			const why = parserProblem(error);
			throw new InvalidFleetError(`${fleetMembersKey} is neither YAML nor JSON: ${why}`, { cause: error });
		}
	}
}
