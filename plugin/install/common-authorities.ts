// Compares the CAs that the members of a fleet trust. If they differ, a CA may have been removed from some members because its key leaked.
// So no command may add it there again.
import { commandLine } from "../terminal/command-line.ts";
import { UsageError } from "../terminal/errors.ts";
import { authoritySecret, caConfigMap, type KeptAuthority } from "./certificate-objects.ts";
import { readAuthorities } from "./judge-certificate.ts";
import type { KeyPair } from "./key-pair.ts";
import type { ClusterCertificates } from "./read-certificates.ts";

/** Returns the bundle of all clusters that have one; undefined if none has. Throws UsageError if the bundles differ. */
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

export type AuthorityKeeper = ClusterCertificates & { readonly authority: KeptAuthority };

/**
 * Throws UsageError if clusters keep different CAs, or different new CAs of a change. The error names each CA, the members that trust it,
 * and how to delete one.
 */
export function refuseDifferentKept(
	keepers: readonly AuthorityKeeper[],
	clusters: readonly ClusterCertificates[],
	agentNamespace: string,
): void {
	refuseDifferent(
		keepers.map((keeper) => {
			const { current, next } = keeper.authority;
			return { keeper, shown: current, judged: next ? [current, next] : [current] };
		}),
		{ clusters, agentNamespace, what: "CAs" },
	);
	refuseDifferent(
		keepers.flatMap((keeper) => {
			const { next } = keeper.authority;
			return next ? [{ keeper, shown: next, judged: [next] }] : [];
		}),
		{ clusters, agentNamespace, what: "new CAs" },
	);
}

interface Kept {
	readonly keeper: AuthorityKeeper;
	readonly shown: KeyPair;
	/** A member that trusts one of these trusts what the keeper has. */
	readonly judged: readonly KeyPair[];
}

function refuseDifferent(
	all: readonly Kept[],
	{
		clusters,
		agentNamespace,
		what,
	}: { readonly clusters: readonly ClusterCertificates[]; readonly agentNamespace: string; readonly what: string },
): void {
	if (new Set(all.map(({ shown }) => shown.certificate)).size < 2) return;
	const trusting = ({ judged }: Kept): readonly ClusterCertificates[] => {
		const kept = judged.map(({ certificate }) => certificate).filter(isReadable);
		return clusters.filter(({ ca }) => kept.some((certificate) => trusts(ca, certificate)));
	};
	const unknown = all.filter((kept) => trusting(kept).length === 0);
	// Unless exactly one of the CAs is trusted, only the user knows which one belongs to the fleet.
	const isClear = unknown.length === all.length - 1;
	throw new UsageError(
		[
			`${all.map(({ keeper }) => keeper.context).join(" and ")} keep different ${what} in Secret ${authoritySecret}: a fleet has one`,
			...all.map((kept) => {
				const by = trusting(kept);
				const who = by.length === 0 ? "no member" : namesOf(by);
				const { certificate } = kept.shown;
				const which = isReadable(certificate) ? describeAuthorities(certificate) : "a certificate that cannot be read";
				return `${kept.keeper.context}: ${which}, trusted by ${who}`;
			}),
		].join("\n"),
		[
			isClear
				? "Delete what no member trusts, and run this again:"
				: "Delete the one that is not the fleet's, by its fingerprint, and run this again:",
			...(isClear ? unknown : all).map(
				({ keeper: { context } }) =>
					`  ${commandLine(["kubectl", "--context", context, "-n", agentNamespace, "delete", `secret/${authoritySecret}`])}`,
			),
		].join("\n"),
	);
}

/** Throws UsageError if there is a bundle that lacks this CA. */
export function refuseRevoked(
	{ certificate }: Pick<KeyPair, "certificate">,
	{
		bundle,
		context,
		agentNamespace,
	}: {
		readonly bundle: string | undefined;
		/** The context whose Secret keeps the CA; undefined if the CA was given as files. */
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

/** Whether the bundle contains every certificate in `certificate`. */
export function trusts(bundle: string | undefined, certificate: string): boolean {
	const known = new Set(marksOf(bundle ?? ""));
	return marksOf(certificate).every((mark) => known.has(mark));
}

function isReadable(certificate: string): boolean {
	return marksOf(certificate).length > 0;
}

/** The fingerprints of a bundle, sorted and without duplicates. */
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
