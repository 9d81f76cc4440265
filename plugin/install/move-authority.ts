// Moves the CA's key to another member, for example before the member that keeps it leaves the fleet.
import { UsageError } from "../terminal/errors.ts";
import { authoritySecret, authoritySecretObject, type KeptAuthority } from "./certificate-objects.ts";
import type { ClusterObject } from "./cluster-object.ts";
import { commonAuthorities, refuseRevoked } from "./common-authorities.ts";
import { findKeptAuthority } from "./fleet-certificates.ts";
import type { KeyUse } from "./key-use.ts";
import type { ClusterCertificates } from "./read-certificates.ts";

export interface CertificateStore {
	read(): Promise<readonly ClusterCertificates[]>;
	write(context: string, object: ClusterObject): Promise<void>;
	/** Deletes Secret xpdb-fleet-ca. */
	removeAuthority(context: string): Promise<void>;
	/** Rejects with UsageError if the Event cannot be written. */
	recordUse(use: KeyUse): Promise<void>;
}

interface MoveOptions {
	readonly agentNamespace: string;
	/** The context of the member that is to keep the key. */
	readonly keepIn: string;
	readonly tell: (line: string) => void;
}

/**
 * Moves the key to Secret xpdb-fleet-ca of context `keepIn` and deletes the Secret in the other clusters. Run it again to resume after an
 * interruption.
 */
export async function moveAuthority(
	store: CertificateStore,
	{ keepIn, agentNamespace, tell }: MoveOptions,
): Promise<void> {
	const clusters = await store.read();
	const target = findTarget(clusters, keepIn);
	const kept = findKeptAuthority(clusters, agentNamespace);
	if (!kept) {
		throw new UsageError(
			`no Secret ${authoritySecret} of these clusters keeps the fleet's CA: there is nothing to move`,
			"Also name the context that has it. If that cluster is gone, make a new CA: kubectl xpdb install certs --rotate --ca --keep-in=CONTEXT",
		);
	}
	const bundle = commonAuthorities(clusters, agentNamespace);
	refuseRevoked(kept.authority.current, { bundle, context: kept.context, agentNamespace });
	// After an interrupted move, the target may keep the CA without the new one that a later change of the CA has stored.
	if (kept.context !== keepIn && !isSameKept(target.authority, kept.authority)) {
		await store.recordUse({ action: "Move", keeper: kept.context, member: keepIn, clusterId: target.clusterId });
		await store.write(keepIn, authoritySecretObject(agentNamespace, kept.authority));
		tell(`${keepIn}: Secret ${authoritySecret} keeps the fleet's CA with its key`);
	}
	for (const { context } of clusters.filter((each) => each.authority && each.context !== keepIn)) {
		await store.removeAuthority(context);
		tell(`${context}: deleted Secret ${authoritySecret}`);
	}
}

function isSameKept(left: KeptAuthority | undefined, right: KeptAuthority): boolean {
	return left?.current.certificate === right.current.certificate && left.next?.certificate === right.next?.certificate;
}

/** Throws UsageError if no context has that name. */
export function findTarget(clusters: readonly ClusterCertificates[], keepIn: string): ClusterCertificates {
	const target = clusters.find(({ context }) => context === keepIn);
	if (target) return target;
	const names = clusters.map(({ context }) => context).join(", ");
	throw new UsageError(`--keep-in=${keepIn} is not one of the contexts ${names}`, "Also name it in --contexts");
}
