// Judges clocks and certificates. No eviction is decided by a clock, but tokens and certificates expire, and people read times.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type ClusterCheck, type FoundProblem, notChecked, ofReading, type Reading } from "./check-report.ts";
import type { ClockReading } from "./clock-reading.ts";
import type { AgentOfCluster } from "./read-agents.ts";

/** Far less than the 2.5 minutes that a token has left when it is renewed, and more than the resolution of API servers' clocks (1 s). */
const skewMs = 5_000;
/** The same as in the alert of docs/operations.md. */
const lastingMs = 14 * 86_400_000;

export function judgeClocks(
	server: Reading<ClockReading>,
	agents: readonly AgentOfCluster[],
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
): ClusterCheck {
	return ofReading(server, (api) => {
		const fix = suggest.kubectl(["get", "pods", "-n", suggest.agentNamespace, "-o", "wide"], name);
		const apart = [
			{ what: "its API server's clock", than: "this machine's", by: api, fix: "date -u" },
			...agents.flatMap(({ who, said }) =>
				said.kind === "read" && said.value.clock
					? [{ what: `the clock of ${who}`, than: "its API server's", by: between(said.value.clock, api), fix }]
					: [],
			),
		].map((each) => ({ ...each, atLeastMs: Math.max(0, Math.abs(each.by.aheadMs) - each.by.withinMs) }));
		const most = Math.max(...apart.map(({ atLeastMs }) => atLeastMs));
		const findings = apart
			.filter(({ atLeastMs }) => atLeastMs > skewMs)
			.map(({ what, than, by, atLeastMs, fix: help }): FoundProblem => {
				const message = `${what} is ${seconds(atLeastMs)} ${by.aheadMs > 0 ? "ahead of" : "behind"} ${than}: tokens and certificates may be refused, and times that are shown are wrong`;
				return { reason: "ClockSkew", message, fix: help };
			});
		return { text: most < 1_000 ? "<1s" : seconds(most), findings };
	});
}

function between(a: ClockReading, b: ClockReading): ClockReading {
	return { aheadMs: a.aheadMs - b.aheadMs, withinMs: a.withinMs + b.withinMs };
}

function seconds(ms: number): string {
	return `${Math.round(ms / 1_000)}s`;
}

/** `nowMs` counts from the epoch. */
export function judgeCertificates(
	agents: readonly AgentOfCluster[],
	nowMs: number,
	{ suggest }: Pick<KubeContext, "suggest">,
): ClusterCheck {
	const told = agents.flatMap(({ who, said }) =>
		said.kind === "read" && said.value.description.certificates
			? [{ who, ...said.value.description.certificates }]
			: [],
	);
	if (told.length === 0) return notChecked("no agent there tells until when its certificate is good");
	const ends = told.flatMap(({ who, certificate, authorities }) => [
		{ what: `the certificate of ${who}`, reason: "CertificateExpires" as const, at: certificate.expiresAtSeconds },
		...authorities.map((each) => ({
			what: `a certificate of the fleet's CA at ${who}`,
			reason: "CaExpires" as const,
			at: each.expiresAtSeconds,
		})),
	]);
	// In all contexts: one member has the CA's key, and all must trust a new CA.
	const rotate = (...flags: readonly string[]) => suggest.xpdbInAll(["install", "certs", "--rotate", ...flags]);
	const fixes = { CertificateExpires: rotate(), CaExpires: rotate("--ca") };
	const leftMs = ends.map(({ at }) => at * 1_000 - nowMs);
	const findings = ends
		.filter(({ at }) => at * 1_000 - nowMs < lastingMs)
		.map(({ what, reason, at }): FoundProblem => {
			const day = new Date(at * 1_000).toISOString().slice(0, 10);
			const message = at * 1_000 < nowMs ? `${what} expired on ${day}` : `${what} expires on ${day}`;
			return { reason, message: `${message}: an expired one ends all calls between clusters`, fix: fixes[reason] };
		});
	return { text: `${Math.max(0, Math.floor(Math.min(...leftMs) / 86_400_000))}d`, findings };
}
