// Lists the members of the fleet as the members' agents describe them, and the differences. Pure: it makes no calls.
import type { AgentCertificates } from "../../proto/agent-cluster.ts";
import { formatAge } from "../flags/duration.ts";
import { findFleetDifferences } from "../fleet/fleet-differences.ts";
import { canonicalAddress } from "../install/expose/same-address.ts";
import type { FleetColumn } from "./judge-fleet.ts";

export type MemberState =
	/** Its agents answer. */
	| "Member"
	/** A list contains it, and it does not answer. */
	| "Silent"
	| "Forgotten"
	/** An agent knows it as a member, and no list contains or forgets it. */
	| "Unlisted";

export interface MemberRow {
	readonly id: string;
	readonly name: string;
	readonly state: MemberState;
	/** The context that leads there; "" if there is none. */
	readonly context: string;
	/** Its address in the first list that has one. */
	readonly address: string | undefined;
	readonly version: string | undefined;
	readonly features: readonly string[];
	/**
	 * How long ago the agents of other members last heard from this one, by the other member's name. Only members that list an address of
	 * this one and report greetings are included. Undefined: not heard since that agent started.
	 */
	readonly heardAgoMs: Readonly<Record<string, number | undefined>>;
	readonly certificates: AgentCertificates | undefined;
	readonly listedBy: readonly string[];
	readonly forgottenBy: readonly string[];
}

export interface FleetMembers {
	readonly rows: readonly MemberRow[];
	/** What prevents the clusters from being one fleet, one line each. */
	readonly differences: readonly string[];
	/** Members without a context that do not answer, and why. */
	readonly problems: readonly string[];
	readonly warnings: readonly string[];
}

/** Greetings go out every 30 s, so in this time at least two have failed. */
const unheardMs = 75_000;
const soonSeconds = 30 * 86_400;

/** Returns the members, and what is wrong with the fleet. `nowSeconds` counts from the epoch. */
export function fleetMembers(columns: readonly FleetColumn[], nowSeconds: number): FleetMembers {
	const speakers = columns.flatMap(({ name, listed, description }) =>
		description.kind === "read" ? [{ name: listed?.name ?? name, description: description.value }] : [],
	);
	const ids = new Set([
		...speakers.flatMap(({ description: { clusterId, members, unresolved = [], forgotten = [] } }) =>
			[...members, ...unresolved, ...forgotten].map(({ id }) => id).concat(clusterId),
		),
		...columns.flatMap(({ listed }) => (listed ? [listed.id] : [])),
	]);
	const rows = [...ids]
		.map((id) => rowOf(id, { columns, speakers }))
		.toSorted(
			(a, b) => Number(a.state === "Forgotten") - Number(b.state === "Forgotten") || (a.name < b.name ? -1 : 1),
		);
	const listed = rows.filter(({ state }) => state !== "Forgotten");
	return {
		rows,
		differences: findFleetDifferences(speakers).map(({ name, message }) => `${name}: ${message}`),
		problems: columns.flatMap(({ name, context, listed: member, description }) =>
			// For a cluster with a context, the call through that context reports the failure in more detail.
			description.kind === "read" || context !== "" ? [] : [`${member?.name ?? name}: ${description.why}`],
		),
		warnings: [
			...forgottenWarnings(rows, speakers),
			...addressWarnings(listed, speakers),
			...trustWarnings(listed),
			...endWarnings(listed, nowSeconds),
			...unheardWarnings(listed),
		],
	};
}

interface Speaker {
	readonly name: string;
	readonly description: Extract<FleetColumn["description"], { readonly kind: "read" }>["value"];
}

function rowOf(
	id: string,
	{ columns, speakers }: { readonly columns: readonly FleetColumn[]; readonly speakers: readonly Speaker[] },
): MemberRow {
	const own = speakers.find(({ description }) => description.clusterId === id)?.description;
	const column = columns.find(
		({ listed, description }) =>
			listed?.id === id || (description.kind === "read" && description.value.clusterId === id),
	);
	const others = speakers.filter(({ description }) => description.clusterId !== id);
	const listedBy = speakers.filter(({ description }) => description.members.some((member) => member.id === id));
	const forgottenBy = speakers.filter(({ description }) => description.forgotten?.some((member) => member.id === id));
	const entries = listedBy.flatMap(({ description }) => description.members.filter((member) => member.id === id));
	const known = speakers.flatMap(({ description: { forgotten = [], unresolved = [] } }) =>
		[...forgotten, ...unresolved].filter((member) => member.id === id),
	);
	const isForgotten = listedBy.length === 0 && forgottenBy.length > 0;
	return {
		id,
		name: entries[0]?.name ?? known.find(({ name }) => name !== undefined)?.name ?? column?.name ?? id,
		state: isForgotten ? "Forgotten" : own ? "Member" : listedBy.length > 0 ? "Silent" : "Unlisted",
		context: column?.context ?? "",
		address: entries.find(({ address }) => address !== undefined)?.address,
		version: own?.version,
		features: own?.features ?? [],
		heardAgoMs: Object.fromEntries(
			// A member that lists no address for this one does not greet it. A member that does not report greetings may still have heard
			// from this one.
			others.flatMap(({ name, description: { heard, members } }) =>
				heard && members.some((member) => member.id === id && member.address !== undefined)
					? [[name, heard.find((each) => each.id === id)?.agoMs] as const]
					: [],
			),
		),
		certificates: own?.certificates,
		listedBy: listedBy.map(({ name }) => name),
		forgottenBy: forgottenBy.map(({ name }) => name),
	};
}

/** Only a warning, because a cluster that never knew the member has nothing to forget. */
function forgottenWarnings(rows: readonly MemberRow[], speakers: readonly Speaker[]): readonly string[] {
	return rows.flatMap(({ id, name, forgottenBy }) => {
		const others = speakers.filter(
			({ name: speaker, description }) => !forgottenBy.includes(speaker) && description.clusterId !== id,
		);
		if (forgottenBy.length === 0 || others.length === 0) return [];
		return [
			`${name} is forgotten by ${forgottenBy.join(", ")}, and not by ${others.map((each) => each.name).join(", ")}`,
		];
	});
}

function addressWarnings(rows: readonly MemberRow[], speakers: readonly Speaker[]): readonly string[] {
	return rows.flatMap(({ id, name }) => {
		const by = Map.groupBy(
			speakers.flatMap((speaker) =>
				speaker.description.members
					.filter((member) => member.id === id && speaker.description.clusterId !== id)
					.map((member) => ({ speaker: speaker.name, address: member.address ?? "no address" })),
			),
			({ address }) => canonicalAddress(address),
		);
		if (by.size < 2) return [];
		const said = [...by.values()].map((all) => `${all[0]?.address} (${all.map(({ speaker }) => speaker).join(", ")})`);
		return [`${name} is listed with different addresses: ${said.join(", ")}`];
	});
}

/** A member refuses another one as soon as the other's certificate comes from a CA that it does not trust. */
function trustWarnings(rows: readonly MemberRow[]): readonly string[] {
	const by = Map.groupBy(
		rows.flatMap(({ name, certificates }) =>
			certificates
				? [
						{
							name,
							trusts: certificates.authorities
								.map(({ sha256 }) => shortMark(sha256))
								.toSorted()
								.join(" and "),
						},
					]
				: [],
		),
		({ trusts }) => trusts,
	);
	if (by.size < 2) return [];
	const said = [...by].map(([trusts, all]) => `${all.map(({ name }) => name).join(", ")} trust ${trusts}`);
	return [`the members trust different CAs, as while the CA is being changed: ${said.join("; ")}`];
}

function endWarnings(rows: readonly MemberRow[], nowSeconds: number): readonly string[] {
	return rows.flatMap(({ name, certificates }) => {
		const ends = certificateEnd(certificates);
		if (ends === undefined || ends - nowSeconds > soonSeconds) return [];
		const when = ends <= nowSeconds ? "has expired" : `ends in ${formatAge((ends - nowSeconds) * 1_000)}`;
		return [`${name}: its certificate, or that of the CA, ${when}`];
	});
}

function unheardWarnings(rows: readonly MemberRow[]): readonly string[] {
	return rows.flatMap(({ name, heardAgoMs }) => {
		const deaf = Object.entries(heardAgoMs).filter(([, agoMs]) => agoMs === undefined || agoMs > unheardMs);
		return deaf.length === 0 ? [] : [`${name} was not seen lately by ${deaf.map(([by]) => by).join(", ")}`];
	});
}

/** Returns when an agent's certificate or a CA that it trusts expires, whichever is first, in seconds since the epoch. */
export function certificateEnd(certificates: AgentCertificates | undefined): number | undefined {
	if (!certificates) return undefined;
	const { certificate, authorities } = certificates;
	return Math.min(certificate.expiresAtSeconds, ...authorities.map(({ expiresAtSeconds }) => expiresAtSeconds));
}

/** Returns the beginning of a fingerprint, enough to tell certificates apart. */
export function shortMark(sha256: string): string {
	return sha256.slice(0, 11);
}

export const memberHeaders: readonly string[] = ["MEMBER", "STATE", "ADDRESS", "AGENT", "HEARD", "CERTIFICATE"];
export const wideMemberHeaders: readonly string[] = [...memberHeaders, "CA", "CONTEXT", "ID"];

export function memberCells(row: MemberRow, isWide: boolean): readonly string[] {
	const { name, state, address = "-", version, heardAgoMs, certificates } = row;
	const heard = Object.values(heardAgoMs);
	const all = heard.flatMap((agoMs) => (agoMs === undefined ? [] : [agoMs]));
	const ago = heard.length > all.length ? "no" : all.length === 0 ? "-" : formatAge(Math.max(...all));
	const day = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);
	const cells = [
		name,
		state,
		address,
		version ?? "-",
		ago,
		certificates ? day(certificates.certificate.expiresAtSeconds) : "-",
	];
	if (!isWide) return cells;
	const marks = certificates?.authorities.map(
		({ sha256, expiresAtSeconds }) => `${shortMark(sha256)} ${day(expiresAtSeconds)}`,
	);
	return [...cells, marks?.join(", ") ?? "-", row.context || "-", row.id];
}
