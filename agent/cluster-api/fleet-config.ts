// The fleet as the ConfigMap `xpdb-fleet` declares it: key `members`, and, optional, keys `forgotten` and `namespaces`, each
// a list in YAML or JSON, and key `leaseNamespace`. Other keys mean nothing here.
import { agentNamespacesKey, readAgentNamespaces } from "../../disruption/agent-namespaces.ts";
import { BoundedError } from "../../disruption/bounded-error.ts";
import type { DeclaredFleet, FleetMember, ForgottenMember } from "../../disruption/fleet.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { oneLine } from "../../disruption/printable.ts";
import { quote, shorten } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";

/** The declaration cannot be used as it is written; the message names the entry. */
export class InvalidFleetError extends BoundedError {
	override readonly name = "InvalidFleetError";
	readonly reason = "InvalidFleet";
}

type Data = Readonly<Record<string, unknown>>;

/** Every key that is read, for whoever asks whether the declaration is still as it was. */
export const fleetKeys = ["members", "forgotten", "leaseNamespace", agentNamespacesKey] as const;

/** Reads the ConfigMap's data. Throws InvalidFleetError: a fleet that is misread is a cluster that is not counted. */
export async function parseFleet(data: Data): Promise<DeclaredFleet> {
	const listed = await parseList(data, "members");
	if (listed === undefined) throw new InvalidFleetError("it has no data.members");
	if (listed.length === 0) throw new InvalidFleetError("members is empty");
	const members = listed.map((entry, index) => parseMember(entry, `members[${index}]`));
	for (const field of ["id", "name"] as const) refuseTwice(members, field, "members");
	const forgotten = ((await parseList(data, "forgotten")) ?? []).map((entry, index) =>
		parseForgotten(entry, `forgotten[${index}]`),
	);
	refuseTwice(forgotten, "id", "forgotten");
	const ids = new Set(members.map(({ id }) => id));
	for (const { id } of forgotten) {
		if (ids.has(id)) throw new InvalidFleetError(`the id ${quote(id)} is both in members and in forgotten`);
	}
	// It is for those who look for agents; what they would refuse is refused here too, where somebody sees it.
	const named = readAgentNamespaces((await parseList(data, agentNamespacesKey)) ?? []);
	if (named.kind === "invalid") throw new InvalidFleetError(named.why);
	const leaseNamespace = parseNamespace(data, "leaseNamespace");
	return { members, forgotten, ...(leaseNamespace !== undefined && { leaseNamespace }) };
}

function parseNamespace(data: Data, key: string): string | undefined {
	if (!Object.hasOwn(data, key)) return undefined;
	const value = data[key];
	// A block of YAML ends in a newline.
	const name = typeof value === "string" ? value.trim() : "";
	if (name.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return name;
	throw new InvalidFleetError(`${key} is not the name of a namespace: ${quote(value)}`);
}

function refuseTwice<F extends string>(entries: readonly Readonly<Record<F, string>>[], field: F, list: string): void {
	const seen = new Set<string>();
	for (const { [field]: value } of entries) {
		if (seen.has(value)) throw new InvalidFleetError(`two ${list} have the ${field} ${quote(value)}`);
		seen.add(value);
	}
}

function parseMember(entry: unknown, path: string): FleetMember {
	const fields = readFields(entry, path, ["id", "name", "address"]);
	const [id, name] = [fields("id"), fields("name")];
	if (!fields.has("address")) return { id, name };
	const address = fields("address");
	const port = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):([1-9][0-9]{0,4})$/.exec(address)?.[1];
	if (port === undefined || Number(port) > 65_535) {
		throw new InvalidFleetError(`${path}.address is not HOST:PORT: ${quote(address)}`);
	}
	return { id, name, address };
}

function parseForgotten(entry: unknown, path: string): ForgottenMember {
	const fields = readFields(entry, path, ["id", "name"]);
	return { id: fields("id"), ...(fields.has("name") && { name: fields("name") }) };
}

interface TextFields {
	(field: string): string;
	has(field: string): boolean;
}

function readFields(entry: unknown, path: string, known: readonly string[]): TextFields {
	if (!isRecord(entry)) throw new InvalidFleetError(`${path} is not an object`);
	for (const field of Object.keys(entry)) {
		if (!known.includes(field)) throw new InvalidFleetError(`${path}.${shorten(field)} is not known`);
	}
	const text = (field: string): string => {
		const value = entry[field];
		if (typeof value !== "string" || value.trim() === "") throw new InvalidFleetError(`${path}.${field} is not a text`);
		// They are shown to people and sent to others.
		if (oneLine(value) !== value || value.length > 253) {
			throw new InvalidFleetError(
				`${path}.${field} has characters that cannot be shown, or more than 253: ${quote(value)}`,
			);
		}
		return value;
	};
	return Object.assign(text, { has: (field: string) => Object.hasOwn(entry, field) });
}

/** Undefined where the key is not there. JSON first: the YAML parser is loaded only where needed, for the agent's memory. */
async function parseList(data: Data, key: string): Promise<readonly unknown[] | undefined> {
	if (!Object.hasOwn(data, key)) return undefined;
	const text = data[key];
	if (typeof text !== "string") throw new InvalidFleetError(`${key} is not a text`);
	const list = await parseText(text, key);
	if (!Array.isArray(list)) throw new InvalidFleetError(`${key} is not a list`);
	return list;
}

async function parseText(text: string, key: string): Promise<unknown> {
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
			throw new InvalidFleetError(`${key} is neither YAML nor JSON: ${why}`, { cause: error });
		}
	}
}
