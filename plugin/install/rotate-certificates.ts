// Replaces the certificates of a fleet's agents, and the CA, while members continue to accept each other.
//
// Guarantee of a change of the CA in all members: no certificate of the new CA is used before every ready agent trusts it. No CA is removed
// before every ready agent presents a certificate of the new CA. A renewal gives only certificates of a CA that the ConfigMaps of all given
// clusters have.
//
// Each agent itself reports what it trusts and presents, so the rotation waits for a file that a kubelet has not delivered or an agent has
// not loaded. The state in the clusters shows how far a change has come, so an interrupted change continues from there.
import { X509Certificate } from "node:crypto";
import { BoundedError } from "../../disruption/bounded-error.ts";
import type { AgentCertificates } from "../../proto/agent-cluster.ts";
import { UsageError } from "../terminal/errors.ts";
import {
	agentSecret,
	agentSecretObject,
	authoritySecret,
	authoritySecretObject,
	caConfigMap,
	caConfigMapObject,
} from "./certificate-objects.ts";
import { commonAuthorities, marksOf, refuseRevoked, trusts } from "./common-authorities.ts";
import { findKeptAuthority, signFor } from "./fleet-certificates.ts";
import { authorityProblem, isSignedBy, readAuthorities } from "./judge-certificate.ts";
import type { KeyPair } from "./key-pair.ts";
import { type CertificateStore, findTarget, moveAuthority } from "./move-authority.ts";
import type { ClusterCertificates } from "./read-certificates.ts";

export interface SeenAgent {
	/** The name of its pod. */
	readonly name: string;
	/** Undefined if the agent is too old to report them. */
	readonly certificates: AgentCertificates | undefined;
}

export interface RotationWorld extends CertificateStore {
	/**
	 * Returns the ready agents of a cluster; empty if they cannot be asked at this moment. Rejects with UsageError if the user may not read
	 * where they are.
	 */
	agents(context: string): Promise<readonly SeenAgent[]>;
	/** Why the cluster's agents could not be asked at the last attempt; undefined if they could. */
	problem(context: string): string | undefined;
	/** Waits until it is worth asking again; rejects if the rotation must end. */
	pause(): Promise<void>;
	/** Milliseconds, monotonic. */
	now(): number;
}

export interface RotationOptions {
	readonly agentNamespace: string;
	/** The CA from the user's files, instead of the one that a cluster keeps. */
	readonly authority: KeyPair | undefined;
	/** The context whose cluster is to keep the CA's key; undefined: the current keeper. */
	readonly keepIn?: string | undefined;
	readonly date: Date;
	/** The timeout of each step that waits. */
	readonly timeoutMs: number;
	readonly tell: (line: string) => void;
	/** Called before certificates of a new CA are used; false ends the rotation there. */
	readonly mayGoOn: () => Promise<boolean>;
}

/**
 * After the timeout, agents do not use the certificates or CAs that they were given, or cannot be asked. Steps that are done stay in
 * effect.
 */
export class RotationStuckError extends BoundedError {
	override readonly name = "RotationStuckError";
}

/** Issues new certificates of the current CA, one cluster after the other. */
export async function renewCertificates(world: RotationWorld, options: RotationOptions): Promise<void> {
	const clusters = await world.read();
	const kept = findKeptAuthority(clusters, options.agentNamespace);
	if (kept?.authority.next) {
		throw new UsageError(
			`the fleet's CA is being changed (Secret ${authoritySecret} in ${kept.context} has two)`,
			"Resume it with --rotate --ca",
		);
	}
	const authority = usable(options.authority ?? kept?.authority.current, options);
	const strangers = clusters.filter(({ ca }) => !trusts(ca, authority.certificate)).map(({ context }) => context);
	if (strangers.length > 0) {
		throw new UsageError(
			`${strangers.join(", ")} would refuse certificates of this CA: ConfigMap ${caConfigMap} there has others`,
			"To change the CA use --rotate --ca",
		);
	}
	const keeper = options.authority ? undefined : kept?.context;
	for (const cluster of clusters) {
		await giveCertificate(world, cluster, { ...options, authority, keeper });
		await untilShown(world, [cluster.context], options);
	}
}

/** Changes the CA: members first trust both, then get certificates of the new CA, then trust only the new CA. */
export async function changeAuthority(world: RotationWorld, options: RotationOptions): Promise<"done" | "stopped"> {
	const { tell, agentNamespace } = options;
	const { keepIn } = options;
	const keptIn = findKeptAuthority(await world.read(), agentNamespace)?.context ?? keepIn;
	if (keepIn !== undefined && keptIn !== keepIn) await moveAuthority(world, { ...options, keepIn });
	const first = await world.read();
	refuseRevokedReturn(first, options);
	const authority = options.authority ? usable(options.authority, options) : await nextAuthority(world, first, options);
	let clusters = await world.read();
	if (clusters.some(({ agent }) => !isOf(agent, authority))) {
		const common = trustedByAll(clusters);
		const both = new Map(
			clusters.map(({ context, ca = common }) => [context, bundleOf([ca, authority.certificate])] as const),
		);
		for (const { context, ca } of clusters) {
			const bundle = both.get(context) ?? "";
			if (isSame(ca, bundle)) continue;
			await world.write(context, caConfigMapObject(agentNamespace, bundle));
			tell(
				`${context}: ConfigMap ${caConfigMap} has ${ca === undefined ? "the new CA" : "the old CA and the new one"}`,
			);
		}
		await untilTrusted(world, both, { ...options, what: "trust both CAs" });
		if (!(await options.mayGoOn())) return "stopped";
		const keeper = options.authority ? undefined : findKeptAuthority(clusters, agentNamespace)?.context;
		for (const cluster of clusters.filter(({ agent }) => !isOf(agent, authority))) {
			await giveCertificate(world, cluster, { ...options, authority, keeper });
		}
	}
	await untilShown(
		world,
		clusters.map(({ context }) => context),
		options,
	);
	clusters = await world.read();
	// Another user may have changed a certificate in the meantime.
	const others = clusters.filter(({ agent }) => !isOf(agent, authority)).map(({ context }) => context);
	if (others.length > 0)
		throw new UsageError(`${others.join(", ")} got another certificate meanwhile`, "Run this again");
	for (const { context } of clusters.filter(({ ca }) => !isSame(ca, authority.certificate))) {
		await world.write(context, caConfigMapObject(agentNamespace, authority.certificate));
		tell(`${context}: ConfigMap ${caConfigMap} has the new CA alone`);
	}
	const alone = new Map(clusters.map(({ context }) => [context, authority.certificate] as const));
	await untilTrusted(world, alone, { ...options, what: "trust the new CA alone" });
	for (const { context, authority: kept } of clusters) {
		if (!kept) continue;
		if (options.authority && !isSame(kept.current.certificate, authority.certificate)) {
			// If the Secret stayed, the next command would use the old CA again.
			await world.removeAuthority(context);
			tell(`${context}: deleted Secret ${authoritySecret}, which kept the old CA`);
		} else if (kept.next || options.authority === undefined) {
			await world.write(context, authoritySecretObject(agentNamespace, { current: authority }));
			tell(`${context}: Secret ${authoritySecret} keeps the new CA alone`);
		}
	}
	return "done";
}

/**
 * Refuses a change in which a member would get a CA that only other members trust, because it may have been revoked. The members' bundles
 * may differ in the new CA, and in CAs that signed no agent's present certificate. The change removes CAs that no agent needs.
 */
function refuseRevokedReturn(
	clusters: readonly ClusterCertificates[],
	{ authority, agentNamespace }: RotationOptions,
): void {
	const kept = findKeptAuthority(clusters, agentNamespace);
	const next = authority ?? kept?.authority.next;
	const earlier = clusters.flatMap(({ agent }) => (agent && !(next && isOf(agent, next)) ? [agent] : []));
	if (next && earlier.length === 0) return;
	const having = clusters.filter(({ ca }) => ca !== undefined);
	const areTaken = having.every(({ ca = "" }) => earlier.every((agent) => isOfBundle(agent, ca)));
	if (!areTaken) {
		const others = having.map((each) => ({ ...each, ca: without(each.ca ?? "", next?.certificate ?? "") }));
		commonAuthorities(others, agentNamespace);
	}
	if (next || !kept) return;
	for (const { ca } of having)
		refuseRevoked(kept.authority.current, { bundle: ca, context: kept.context, agentNamespace });
}

/** Returns the CAs that all other members trust, for a member that trusts none yet. */
function trustedByAll(clusters: readonly ClusterCertificates[]): string {
	const bundles = clusters.flatMap(({ ca }) => (ca === undefined ? [] : [ca]));
	const known = bundles.map((ca) => new Set(marksOf(ca)));
	return bundleOf(bundles, (mark) => known.every((marks) => marks.has(mark)));
}

function isOfBundle(agent: KeyPair, ca: string): boolean {
	return readAuthorities(ca).some((authority) => isSignedBy(agent, authority));
}

function without(bundle: string, certificate: string): string {
	const left = new Set(marksOf(certificate));
	return bundleOf([bundle], (mark) => !left.has(mark));
}

/** Returns the new CA of a change that has begun, or creates one and stores it before any certificate or bundle is written. */
async function nextAuthority(
	world: RotationWorld,
	clusters: readonly ClusterCertificates[],
	options: RotationOptions,
): Promise<KeyPair> {
	const { keepIn, agentNamespace } = options;
	const kept = findKeptAuthority(clusters, agentNamespace);
	if (!kept && keepIn === undefined) {
		throw new UsageError(
			`no Secret ${authoritySecret} of these clusters keeps the fleet's CA`,
			"Also name the context that has it. If there is none, give the new CA with --ca-cert and --ca-key, or let a member keep it: --keep-in=CONTEXT",
		);
	}
	if (kept?.authority.next) {
		options.tell(`${kept.context}: goes on with the new CA that Secret ${authoritySecret} keeps`);
		return usable(kept.authority.next, options);
	}
	const { createAuthority } = await import("./sign-certificates.ts");
	const next = await createAuthority(options.date);
	const { context, clusterId } = kept ?? findTarget(clusters, keepIn ?? "");
	await world.recordUse({ action: "Create", keeper: context, member: context, clusterId });
	// If the old CA's key is unknown, both entries are the new CA. `next` shows that a change has begun.
	const current = kept?.authority.current ?? next;
	await world.write(context, authoritySecretObject(agentNamespace, { current, next }));
	options.tell(`${context}: Secret ${authoritySecret} keeps a new CA${kept ? " beside the old one" : ""}`);
	return next;
}

function usable(authority: KeyPair | undefined, { date }: RotationOptions): KeyPair {
	if (!authority) {
		throw new UsageError(
			`no Secret ${authoritySecret} of these clusters keeps the fleet's CA: nothing can be signed`,
			"Also name the context that has it, or give it with --ca-cert and --ca-key. If its key is lost, make a new CA: --rotate --ca --keep-in=CONTEXT",
		);
	}
	const problem = authorityProblem(authority, date);
	if (problem !== undefined) throw new UsageError(`the CA cannot be used: ${problem}`);
	return authority;
}

async function giveCertificate(
	world: RotationWorld,
	{ context, clusterId }: ClusterCertificates,
	{
		authority,
		keeper,
		agentNamespace,
		date,
		tell,
	}: RotationOptions & { readonly authority: KeyPair; readonly keeper: string | undefined },
): Promise<void> {
	await world.recordUse({ action: "Sign", keeper, member: context, clusterId });
	const pair = await signFor(authority, { context, clusterId, agentNamespace, now: date });
	await world.write(context, agentSecretObject(agentNamespace, pair));
	tell(`${context}: Secret ${agentSecret} has a new certificate`);
}

/** Waits until every agent presents the certificate in its cluster's Secret. */
async function untilShown(
	world: RotationWorld,
	contexts: readonly string[],
	options: Pick<RotationOptions, "timeoutMs" | "tell">,
): Promise<void> {
	const wanted = new Map(
		(await world.read()).map(({ context, agent }) => [context, marksOf(agent?.certificate ?? "")[0]]),
	);
	await untilAll(world, contexts, {
		...options,
		what: "show the new certificate",
		isSo: ({ certificate }, context) => certificate.sha256 === wanted.get(context),
	});
}

async function untilTrusted(
	world: RotationWorld,
	/** By context. */
	bundles: ReadonlyMap<string, string>,
	options: Pick<RotationOptions, "timeoutMs" | "tell"> & { readonly what: string },
): Promise<void> {
	const wanted = new Map([...bundles].map(([context, ca]) => [context, marksOf(ca).join()] as const));
	await untilAll(world, [...bundles.keys()], {
		...options,
		isSo: ({ authorities }, context) => sorted(authorities.map(({ sha256 }) => sha256)).join() === wanted.get(context),
	});
}

interface Wait extends Pick<RotationOptions, "timeoutMs" | "tell"> {
	readonly what: string;
	readonly isSo: (certificates: AgentCertificates, context: string) => boolean;
}

async function untilAll(
	world: RotationWorld,
	contexts: readonly string[],
	{ what, isSo, timeoutMs, tell }: Wait,
): Promise<void> {
	const deadline = world.now() + timeoutMs;
	const told = new Set<string>();
	for (let pending = contexts; ; ) {
		const seen = await Promise.all(
			pending.map(async (context) => ({ context, ...lateAgents(context, await world.agents(context), isSo) })),
		);
		const waiting = seen.filter(({ count, late }) => count === 0 || late.length > 0);
		for (const { context, count } of seen) {
			if (!waiting.some((each) => each.context === context)) tell(`${context}: all ${count} agents ${what}`);
			else if (!told.has(context))
				tell(`${context}: waits until all agents ${what}; a kubelet takes a minute to bring it`);
			told.add(context);
		}
		if (waiting.length === 0) return;
		if (world.now() > deadline) {
			const who = waiting
				.map(({ context, late }) => `${context}: ${late.join(", ") || (world.problem(context) ?? "no agent is ready")}`)
				.join("; ");
			throw new RotationStuckError(
				`all agents should ${what}, and after ${Math.round(timeoutMs / 1_000)} s these do not (${who}): see their logs`,
			);
		}
		pending = waiting.map(({ context }) => context);
		await world.pause();
	}
}

/** Returns the agents that do not meet the condition yet. Throws UsageError for an agent that cannot report its certificates. */
function lateAgents(
	context: string,
	agents: readonly SeenAgent[],
	isSo: Wait["isSo"],
): { readonly count: number; readonly late: readonly string[] } {
	const late = agents.filter(({ name, certificates }) => {
		if (certificates) return !isSo(certificates, context);
		throw new UsageError(
			`${context}: agent ${name} is too old to tell which certificates it uses`,
			"Upgrade the agents first: kubectl xpdb upgrade",
		);
	});
	return { count: agents.length, late: late.map(({ name }) => name) };
}

function isOf(agent: KeyPair | undefined, { certificate }: KeyPair): boolean {
	return agent !== undefined && isSignedBy(agent, new X509Certificate(certificate));
}

function isSame(ca: string | undefined, other: string): boolean {
	return marksOf(ca ?? "").join() === marksOf(other).join();
}

/** Returns the certificates for which `isMeant` holds, from all bundles and without duplicates. */
function bundleOf(bundles: readonly string[], isMeant: (mark: string) => boolean = () => true): string {
	const all = bundles
		.flatMap(readAuthorities)
		.filter(({ fingerprint256 }) => isMeant(fingerprint256))
		.map((each) => [each.fingerprint256, each.toString()] as const);
	return [...new Map(all).values()].map((pem) => `${pem.trimEnd()}\n`).join("");
}

function sorted(texts: Iterable<string>): readonly string[] {
	return [...texts].toSorted();
}
