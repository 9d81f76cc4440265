// Plans the certificates that a fleet lacks: its CA, and one for the agents of each cluster. Valid existing ones stay as they are.
//
// The CA's key exists only in a Secret of one cluster, or in a file of the user. If cert-manager signs with it, each cluster has it in a
// Secret. It is never printed or logged.

import { agentServerName } from "../../proto/credentials.ts";
import { memberUri } from "../../proto/member-certificate.ts";
import { UsageError } from "../terminal/errors.ts";
import type { CertificateMode } from "./certificate-mode.ts";
import {
	agentSecret,
	agentSecretObject,
	authoritySecret,
	authoritySecretObject,
	type CertificateIssuer,
	caConfigMap,
	caConfigMapObject,
	certificateObject,
	issuerObject,
} from "./certificate-objects.ts";
import type { ClusterObject } from "./cluster-object.ts";
import {
	type AuthorityKeeper,
	commonAuthorities,
	refuseDifferentKept,
	refuseRevoked,
	trusts,
} from "./common-authorities.ts";
import { authorityProblem, certificateProblem, unknownAuthority } from "./judge-certificate.ts";
import type { KeyPair } from "./key-pair.ts";
import type { KeyUse } from "./key-use.ts";
import type { ClusterCertificates } from "./read-certificates.ts";

export interface CertificateOptions {
	readonly mode: CertificateMode;
	readonly agentNamespace: string;
	/** The CA from the user's files. Its key is not stored in a cluster. With cert-manager, the key is not needed. */
	readonly authority?: { readonly certificate: string; readonly key?: string } | undefined;
	/** The issuer for cert-manager. Undefined: an Issuer that signs with the CA in Secret xpdb-fleet-ca is created. */
	readonly issuer?: CertificateIssuer | undefined;
	readonly now: Date;
}

export interface CertificatePlan {
	/** By context. May include Secrets, whose contents must not be shown. */
	readonly objects: ReadonlyMap<string, readonly ClusterObject[]>;
	/** For the plan, one line each: new certificates and CAs, and what cert-manager issues. */
	readonly notes: readonly string[];
	readonly uses: readonly KeyUse[];
}

/** Throws UsageError if the existing certificates or the given CA cannot be used, or if nothing can sign the missing ones. */
export async function planFleetCertificates(
	clusters: readonly ClusterCertificates[],
	options: CertificateOptions,
): Promise<CertificatePlan> {
	const plan = { create: planCreated, existing: planExisting, "cert-manager": planIssued }[options.mode];
	return plan(clusters, options);
}

/**
 * Returns the fleet's CA with its key, if one of these clusters keeps it. After an interrupted move, several may keep it: the one that also
 * keeps the new CA of a change comes first. Throws UsageError if they keep different CAs.
 */
export function findKeptAuthority(
	clusters: readonly ClusterCertificates[],
	agentNamespace: string,
): AuthorityKeeper | undefined {
	const keepers = clusters.flatMap((each) => (each.authority ? [{ ...each, authority: each.authority }] : []));
	refuseDifferentKept(keepers, clusters, agentNamespace);
	return keepers.find(({ authority }) => authority.next) ?? keepers[0];
}

async function planCreated(
	clusters: readonly ClusterCertificates[],
	options: CertificateOptions,
): Promise<CertificatePlan> {
	const { agentNamespace, now } = options;
	const kept = findKeptAuthority(clusters, agentNamespace);
	if (kept?.authority.next) {
		throw new UsageError(
			`the fleet's CA is being changed (Secret ${authoritySecret} in ${kept.context} has two)`,
			"Bring that to its end first: kubectl xpdb install certs --rotate --ca",
		);
	}
	const bundle = commonAuthorities(clusters, agentNamespace);
	const objects = new Map<string, ClusterObject[]>(clusters.map(({ context }) => [context, []]));
	const notes: string[] = [];
	const uses: KeyUse[] = [];
	const given = givenAuthority(options);
	const found = given ?? kept?.authority.current;
	if (found) {
		refuseBadAuthority(found, now);
		refuseRevoked(found, { bundle, context: given ? undefined : kept?.context, agentNamespace });
	}
	const authority = found ?? (await makeAuthority(clusters, { objects, notes, uses, ...options }));
	if (authority === undefined) return { objects, notes, uses };
	const keeper = given ? undefined : (kept?.context ?? uses[0]?.keeper);
	const trusted = clusters.map((cluster) => ({ ...cluster, ca: cluster.ca ?? bundle ?? authority.certificate }));
	for (const [index, { context, clusterId, agent, ca }] of trusted.entries()) {
		if (ca !== clusters[index]?.ca) {
			objects.get(context)?.push(caConfigMapObject(agentNamespace, ca));
			notes.push(`${context}: ConfigMap ${caConfigMap} trusts the fleet's CA`);
		}
		const problem = agent ? problemAnywhere(agent, trusted, { clusterId, agentNamespace, now }) : "there was none";
		if (problem === undefined) continue;
		const pair = await signFor(authority, { context, clusterId, agentNamespace, now });
		uses.push({ action: "Sign", keeper, member: context, clusterId });
		objects.get(context)?.push(agentSecretObject(agentNamespace, pair));
		notes.push(`${context}: Secret ${agentSecret} gets a new certificate (${problem})`);
	}
	return { objects, notes, uses };
}

/**
 * Creates the fleet's CA. Undefined if the fleet has a CA whose key none of these clusters keeps, and all certificates are valid. Throws
 * UsageError if that CA would have to sign.
 */
async function makeAuthority(
	clusters: readonly ClusterCertificates[],
	{
		objects,
		notes,
		uses,
		agentNamespace,
		now,
	}: CertificateOptions & {
		readonly objects: ReadonlyMap<string, ClusterObject[]>;
		readonly notes: string[];
		readonly uses: KeyUse[];
	},
): Promise<KeyPair | undefined> {
	const [first] = clusters;
	if (!first) return undefined;
	if (clusters.some(({ ca }) => ca !== undefined)) {
		const problems = problemsOf(clusters, { agentNamespace, now });
		if (problems.length === 0) return undefined;
		throw new UsageError(
			`the fleet has a CA, but no Secret ${authoritySecret} of these clusters keeps its key: nothing can be signed\n${problems.join("\n")}`,
			"Also name the context that has it, or give the CA with --ca-cert and --ca-key",
		);
	}
	const { createAuthority } = await import("./sign-certificates.ts");
	const current = await createAuthority(now);
	objects.get(first.context)?.push(authoritySecretObject(agentNamespace, { current }));
	uses.push({ action: "Create", keeper: first.context, member: first.context, clusterId: first.clusterId });
	notes.push(`${first.context}: Secret ${authoritySecret} keeps the new CA of the fleet with its key`);
	return current;
}

async function planExisting(
	clusters: readonly ClusterCertificates[],
	options: CertificateOptions,
): Promise<CertificatePlan> {
	commonAuthorities(clusters, options.agentNamespace);
	const problems = problemsOf(clusters, options);
	if (problems.length > 0) {
		throw new UsageError(
			`--certs=existing, and they are not all there\n${problems.join("\n")}`,
			"docs/operations.md, Certificates, says what is in them; --certs=create makes them",
		);
	}
	return { objects: new Map(clusters.map(({ context }) => [context, []])), notes: [], uses: [] };
}

async function planIssued(
	clusters: readonly ClusterCertificates[],
	{ agentNamespace, issuer, authority }: CertificateOptions,
): Promise<CertificatePlan> {
	const bundle = commonAuthorities(clusters, agentNamespace);
	const objects = new Map<string, readonly ClusterObject[]>();
	const notes: string[] = [];
	// Agents of one cluster must trust the CAs of all others.
	const known = issuer ? [] : clusters.flatMap((cluster) => cluster.authority?.current.certificate ?? []);
	const all = [...(authority ? [authority.certificate] : []), ...known];
	for (const { context, clusterId, ca, authority: kept } of clusters) {
		if (!issuer && kept) refuseRevoked(kept.current, { bundle, context, agentNamespace });
		if (!issuer && !kept) {
			throw new UsageError(
				`${context}: cert-manager signs with the CA in Secret ${agentNamespace}/${authoritySecret}, which is not there`,
				"Put it there in every cluster, or name an issuer of yours with --cert-issuer=KIND/NAME",
			);
		}
		const trusted = all.reduce<string | undefined>(trusting, ca ?? bundle);
		if (trusted === undefined) {
			throw new UsageError(
				`${context}: ConfigMap ${agentNamespace}/${caConfigMap} does not exist, so the issuer's CA is unknown`,
				"Give its certificate with --ca-cert",
			);
		}
		const used = issuer ?? { kind: "Issuer" as const, name: authoritySecret };
		const serverName = agentServerName(agentNamespace);
		objects.set(context, [
			...(trusted === ca ? [] : [caConfigMapObject(agentNamespace, trusted)]),
			...(issuer ? [] : [issuerObject(agentNamespace)]),
			certificateObject(agentNamespace, { clusterId, serverName, issuer: used }),
		]);
		notes.push(`${context}: cert-manager has the agents' certificate from ${used.kind} ${used.name}`);
	}
	return { objects, notes, uses: [] };
}

/** One line for each cluster whose agents could not connect to the others with the existing certificates. */
function problemsOf(
	clusters: readonly ClusterCertificates[],
	{ agentNamespace, now }: Pick<CertificateOptions, "agentNamespace" | "now">,
): readonly string[] {
	const trusting = clusters.flatMap(({ context, ca }) => (ca === undefined ? [] : [{ context, ca }]));
	return clusters.flatMap(({ context, clusterId, agent, ca }) => {
		if (ca === undefined) return [`${context}: there is no ConfigMap ${agentNamespace}/${caConfigMap}`];
		if (!agent) return [`${context}: there is no Secret ${agentNamespace}/${agentSecret}`];
		const problem = problemAnywhere(agent, trusting, { clusterId, agentNamespace, now });
		return problem === undefined ? [] : [`${context}: Secret ${agentNamespace}/${agentSecret}: ${problem}`];
	});
}

/** Why agents would refuse this certificate, in its own cluster or in any other; undefined if all accept it. */
function problemAnywhere(
	agent: KeyPair,
	clusters: readonly { readonly context: string; readonly ca: string }[],
	{ clusterId, agentNamespace, now }: Omit<SignRequest, "context">,
): string | undefined {
	const serverName = agentServerName(agentNamespace);
	const problems = clusters.flatMap(({ context, ca }) => {
		const problem = certificateProblem(agent, { ca, serverName, clusterId, now });
		return problem === undefined ? [] : [problem === unknownAuthority ? `${problem} of ${context}` : problem];
	});
	return problems[0];
}

function trusting(bundle: string | undefined, certificate: string): string {
	if (bundle === undefined) return certificate;
	return trusts(bundle, certificate) ? bundle : `${bundle.trimEnd()}\n${certificate}`;
}

function givenAuthority({ authority }: CertificateOptions): KeyPair | undefined {
	if (!authority) return undefined;
	const { certificate, key } = authority;
	if (key === undefined) throw new UsageError("--ca-cert without its key cannot sign", "Give it with --ca-key");
	return { certificate, key };
}

function refuseBadAuthority(authority: KeyPair, now: Date): void {
	const problem = authorityProblem(authority, now);
	if (problem !== undefined) throw new UsageError(`the fleet's CA cannot be used: ${problem}`);
}

export interface SignRequest {
	readonly context: string;
	readonly clusterId: string;
	readonly agentNamespace: string;
	readonly now: Date;
}

/** Returns a new certificate for the agents of a cluster. Throws UsageError if this CA's key cannot sign. */
export async function signFor(
	authority: KeyPair,
	{ context, clusterId, agentNamespace, now }: SignRequest,
): Promise<KeyPair> {
	const { signAgentCertificate } = await import("./sign-certificates.ts");
	try {
		return await signAgentCertificate(authority, {
			// X.509 allows at most 64 characters.
			commonName: `xpdb-agent ${context}`.slice(0, 64),
			dnsName: agentServerName(agentNamespace),
			uri: memberUri(clusterId),
			now,
		});
	} catch (error) {
		if (error instanceof TypeError) throw new UsageError(`the fleet's CA cannot be used: ${error.message}`);
		throw error;
	}
}
