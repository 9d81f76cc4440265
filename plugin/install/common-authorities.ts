// Whose certificates the members of a fleet take. All of them take the same. Where they differ, one may have been taken out on purpose, because
// its key was lost to somebody: nothing that adds a CA may bring it back.
import { UsageError } from "../terminal/errors.ts";
import { authoritySecret, caConfigMap } from "./certificate-objects.ts";
import { readAuthorities } from "./judge-certificate.ts";
import type { KeyPair } from "./key-pair.ts";
import type { ClusterCertificates } from "./read-certificates.ts";

/** The bundle of all clusters that have one; undefined where none has. Throws UsageError where they differ. */
export function commonAuthorities(
	clusters: readonly ClusterCertificates[],
	agentNamespace: string,
): string | undefined {
	const having = clusters.filter(({ ca }) => ca !== undefined);
	const [first, ...others] = Map.groupBy(having, ({ ca = "" }) => marksOf(ca).join()).values();
	if (first === undefined || others.length === 0) return first?.[0]?.ca;
	const groups = [first, ...others];
	const [fewest = first] = groups.toSorted((a, b) => a.length - b.length);
	const undo = fewest.map(({ context, authority }) => {
		const secrets = `secret/xpdb-agent-tls${authority ? ` secret/${authoritySecret}` : ""}`;
		return `  kubectl --context ${context} -n ${agentNamespace} delete configmap/${caConfigMap} ${secrets}`;
	});
	throw new UsageError(
		[
			`the members trust different CAs (ConfigMap ${caConfigMap}), and one of them may have been revoked: nothing was touched`,
			...groups.map((group) => `${namesOf(group)}: ${describeAuthorities(group[0]?.ca ?? "")}`),
		].join("\n"),
		[
			"If a change of the CA was interrupted, the same command finishes it: kubectl xpdb install certs --rotate --ca",
			`If the CA of ${namesOf(fewest)} was revoked, delete what is left of it and run this again:`,
			...undo,
		].join("\n"),
	);
}

/** Throws UsageError where members have a bundle, and this CA is not in it. */
export function refuseRevoked(
	{ certificate }: Pick<KeyPair, "certificate">,
	{
		bundle,
		context,
		agentNamespace,
	}: {
		readonly bundle: string | undefined;
		/** Whose Secret keeps it; undefined: it was given. */
		readonly context: string | undefined;
		readonly agentNamespace: string;
	},
): void {
	if (bundle === undefined || trusts(bundle, certificate)) return;
	if (context === undefined) {
		throw new UsageError(
			`the members do not trust the CA of --ca-cert, they trust ${describeAuthorities(bundle)}: nothing was touched`,
			"To change the CA: kubectl xpdb install certs --rotate --ca --ca-cert=FILE --ca-key=FILE",
		);
	}
	throw new UsageError(
		`${context}: Secret ${authoritySecret} keeps a CA that the members do not trust, so it may have been revoked: nothing was touched`,
		[
			`Delete it: kubectl --context ${context} -n ${agentNamespace} delete secret/${authoritySecret}`,
			"Then give the fleet's CA with --ca-cert and --ca-key",
		].join("\n"),
	);
}

/** Whether every certificate of the one is in the other. */
export function trusts(bundle: string | undefined, certificate: string): boolean {
	const known = new Set(marksOf(bundle ?? ""));
	return marksOf(certificate).every((mark) => known.has(mark));
}

/** Fingerprints, each once, in an order of their own. */
export function marksOf(bundle: string): readonly string[] {
	return [...new Set(readAuthorities(bundle).map(({ fingerprint256 }) => fingerprint256))].toSorted();
}

function namesOf(clusters: readonly ClusterCertificates[]): string {
	return clusters.map(({ context }) => context).join(", ");
}

function describeAuthorities(bundle: string): string {
	const all = readAuthorities(bundle).map(
		({ fingerprint256, validToDate }) =>
			`${fingerprint256.slice(0, 23)}… (until ${validToDate.toISOString().slice(0, 10)})`,
	);
	return all.join(" and ") || "no other";
}
