// Reads and formats the Lease that records every cluster that this one ever listed or was greeted by. The record is one annotation in JSON
// with a version. It is parsed strictly, so that a misread list cannot hide a missing member.
import { GarbledLeaseError } from "../../disruption/errors.ts";
import { whileNobodyDrains } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";

export const knownMembersLease = "xpdb-known-members";
export const knownMembersAnnotation = "xpdb.form3.tech/known-members";

const schemaVersion = 1;
/** A member takes 300 bytes at the usual lengths and 800 at most; annotations are limited to 256 KiB. */
export const maxKnownMembers = 300;

/** A cluster that was once listed here, or that greeted this one. */
export interface KnownMember {
	readonly id: string;
	/** As last listed, or as the cluster called itself; for people. */
	readonly name: string;
	readonly address?: string;
	/** Seconds since 1970, by the clock of the agent that saw the member first; for people. */
	readonly since: number;
}

/** Throws GarbledLeaseError if any part cannot be understood. `cluster` is the name for messages. */
export function parseKnownMembers(
	{ annotations, unreadable }: Pick<LeaseObject, "annotations" | "unreadable">,
	cluster: string,
): readonly KnownMember[] {
	const garbled = (why: string): GarbledLeaseError =>
		new GarbledLeaseError(
			`cannot read Lease "${knownMembersLease}" in cluster "${cluster}": ${why}. Evictions are blocked until it is deleted. ` +
				"First make sure that ConfigMap xpdb-fleet lists or forgets every cluster that was ever a member; then delete the Lease " +
				whileNobodyDrains,
		);
	if (unreadable !== undefined) throw garbled(unreadable);
	const text = annotations[knownMembersAnnotation];
	if (text === undefined) throw garbled(`annotation ${knownMembersAnnotation} is missing`);
	const state = parseJson(text);
	if (!isRecord(state)) throw garbled(`annotation ${knownMembersAnnotation} is not an object in JSON`);
	if (state["version"] !== schemaVersion) throw garbled(`its schema version is ${quote(state["version"])}`);
	const { members } = state;
	if (!Array.isArray(members)) throw garbled("its members are not a list");
	const seen = new Set<string>();
	return members.map((entry: unknown, index) => {
		const member = readMember(entry);
		if (!member) throw garbled(`its members[${index}] is not a member`);
		if (seen.has(member.id)) throw garbled(`it has the id ${quote(member.id)} twice`);
		seen.add(member.id);
		return member;
	});
}

export function knownMembersText(members: Iterable<KnownMember>): string {
	const sorted = [...members].toSorted((a, b) => (a.id < b.id ? -1 : 1));
	return JSON.stringify({ version: schemaVersion, members: sorted });
}

function readMember(entry: unknown): KnownMember | undefined {
	if (!isRecord(entry)) return undefined;
	const { id, name, address, since, ...others } = entry;
	if (!isName(id) || !isName(name) || Object.keys(others).length > 0) return undefined;
	if (address !== undefined && !isName(address)) return undefined;
	if (typeof since !== "number" || !Number.isSafeInteger(since)) return undefined;
	return { id, name, ...(address !== undefined && { address }), since };
}

function isName(value: unknown): value is string {
	return typeof value === "string" && value !== "" && value.length <= 253;
}

function parseJson(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return value;
	} catch {
		return undefined;
	}
}
