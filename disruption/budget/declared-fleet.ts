// Reads and checks the fleet that ConfigMap `xpdb-fleet` declares.
import { agentNamespacesKey, readAgentNamespaces } from "../agent-namespaces.ts";
import { BoundedError } from "../bounded-error.ts";
import { bracketsHint } from "../brackets-hint.ts";
import type { DeclaredFleet, FleetMember, ForgottenMember } from "./fleet.ts";
import { oneLine } from "../printable.ts";
import { quote, shorten } from "../quote.ts";
import { isRecord } from "../record.ts";

/** The declaration is invalid. The message says which part of it. */
export class InvalidFleetError extends BoundedError {
	override readonly name = "InvalidFleetError";
	readonly reason = "InvalidFleet";
}

/** Every key that is read. While their values stay the same, an agent does not parse the declaration again. */
export const fleetKeys = ["members", "forgotten", "leaseNamespace", agentNamespacesKey] as const;

/** The values of fleetKeys, with lists already parsed. Undefined if a key is missing. */
export interface DeclaredFleetData {
	readonly members: unknown;
	readonly forgotten: unknown;
	readonly namespaces: unknown;
	readonly leaseNamespace: unknown;
}

/** Throws InvalidFleetError if any part of the declaration is invalid, because a misread fleet could leave a cluster uncounted. */
export function readDeclaredFleet(data: DeclaredFleetData): DeclaredFleet {
	if (data.members === undefined) throw new InvalidFleetError("it has no data.members");
	const listed = readList(data.members, "members");
	if (listed.length === 0) throw new InvalidFleetError("members is empty");
	const members = listed.map((entry, index) => readMember(entry, `members[${index}]`));
	for (const field of ["id", "name"] as const) refuseTwice(members, field, "members");
	const forgotten = readList(data.forgotten === undefined ? [] : data.forgotten, "forgotten").map((entry, index) =>
		readForgotten(entry, `forgotten[${index}]`),
	);
	refuseTwice(forgotten, "id", "forgotten");
	const ids = new Set(members.map(({ id }) => id));
	for (const { id } of forgotten) {
		if (ids.has(id)) throw new InvalidFleetError(`the id ${quote(id)} is both in members and in forgotten`);
	}
	// Only the plugin uses `namespaces`, to find agents. An agent refuses an invalid list too, so that people notice it early.
	const named = readAgentNamespaces(data.namespaces === undefined ? [] : data.namespaces);
	if (named.kind === "invalid") throw new InvalidFleetError(named.why);
	const leaseNamespace = readNamespace(data.leaseNamespace, "leaseNamespace");
	return { members, forgotten, ...(leaseNamespace !== undefined && { leaseNamespace }) };
}

function readList(value: unknown, key: string): readonly unknown[] {
	if (!Array.isArray(value)) throw new InvalidFleetError(`${key} is not a list`);
	return value;
}

function readNamespace(value: unknown, key: string): string | undefined {
	if (value === undefined) return undefined;
	// A YAML block ends with a newline.
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

function readMember(entry: unknown, path: string): FleetMember {
	const fields = readFields(entry, path, ["id", "name", "address"]);
	const [id, name] = [fields("id"), fields("name")];
	if (!fields.has("address")) return { id, name };
	const address = fields("address");
	const port = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):([1-9][0-9]{0,4})$/.exec(address)?.[1];
	if (port === undefined || Number(port) > 65_535) {
		throw new InvalidFleetError(`${path}.address is not HOST:PORT: ${quote(address)}${bracketsHint(address)}`);
	}
	return { id, name, address };
}

function readForgotten(entry: unknown, path: string): ForgottenMember {
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
		// These texts are shown to people and sent to other processes.
		if (oneLine(value) !== value || value.length > 253) {
			throw new InvalidFleetError(
				`${path}.${field} has characters that cannot be shown, or more than 253: ${quote(value)}`,
			);
		}
		return value;
	};
	return Object.assign(text, { has: (field: string) => Object.hasOwn(entry, field) });
}
