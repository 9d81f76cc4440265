// Tests that the code gives every reason of a check.
import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { type CheckReason, ownCheckReasons } from "../../../plugin/check/check-reason.ts";
import type { FoundProblem } from "../../../plugin/check/check-report.ts";
import { judgeAnchor, judgeBudgetKind, judgeServer } from "../../../plugin/check/judge-access.ts";
import {
	judgeAgentCount,
	judgeAgentsBefore,
	judgeAnswers,
	judgeLabelledPods,
	judgeVersions,
} from "../../../plugin/check/judge-agents.ts";
import {
	judgeInForce,
	judgeLabels,
	judgeMet,
	judgeOwners,
	judgeReadable,
	judgeSame,
	uncounted,
} from "../../../plugin/check/judge-budgets.ts";
import { judgeCertificates, judgeClocks } from "../../../plugin/check/judge-clocks.ts";
import { judgeLists, judgePeers, judgeWay } from "../../../plugin/check/judge-fleet.ts";
import { judgeKeyReaders } from "../../../plugin/check/judge-key-readers.ts";
import { judgePolicies, judgeXpdb } from "../../../plugin/check/judge-policies.ts";
import { judgeInstallRights, judgeRights } from "../../../plugin/check/judge-rights.ts";
import { neededRights } from "../../../plugin/check/needed-rights.ts";
import type { PolicyObjects } from "../../../plugin/check/read-policies.ts";
import { clientVersion } from "../../../plugin/kubernetes/client-version.ts";
import { binding, policiesOf, policy, webhooksOf } from "../../support/build-policies.ts";
import { judgeServedAt } from "../../support/judge-served-at.ts";
import { suggestDefault } from "../../support/suggest-default.ts";
import {
	eu,
	read,
	unread,
	options,
	agent,
	agents,
	noEnds,
	judgedMemory,
	speaking,
	minorAhead,
	patchAhead,
	members,
	description,
	column,
	saying,
	reached,
	serverClock,
	nowMs,
	judgedCertificates,
	listsOf,
	rights,
	lackingFacts,
	row,
	judged,
	refused,
} from "./check-facts.ts";

type Found = readonly FoundProblem[];

const moved = { kind: "StatefulSet", namespace: "shop", name: "db", wants: 3, others: 2, cluster: "eu" };
const suspension = { by: "alice@laptop", since: new Date(nowMs - 26 * 3_600_000).toISOString(), reason: "migration" };
const suspendedIn = (clusters: readonly string[]) =>
	row().members.map((member) =>
		clusters.includes(member.cluster) ? { ...member, suspended: true, suspension } : member,
	);
const rows: readonly (readonly [name: string, reason: CheckReason, found: () => Found | Promise<Found>])[] = [
	["a server that is silent", "ApiServerSilent", () => judgeServer(unread, undefined, eu).findings],
	["an old server", "ApiServerTooOld", () => judgeServer(read("v1.29.14-gke.1"), undefined, eu).findings],
	["a server without a version", "NotChecked", () => judgeServer(read("master"), undefined, eu).findings],
	["two contexts of one cluster", "SameCluster", () => judgeServer(read("v1.36.3"), "us", eu).findings],
	["a server without our kind", "BudgetKindMissing", () => judgeBudgetKind(read(undefined), eu).findings],
	[
		"an older definition of it",
		"BudgetKindDiffers",
		() => judgeBudgetKind(read({ fields: new Set(["selector", "minAvailable", "maxUnavailable"]) }), eu).findings,
	],
	["a definition without a schema", "NotChecked", () => judgeBudgetKind(read({ fields: undefined }), eu).findings],
	["no right to port-forward", "ReachRightMissing", () => rights("reach", "ReachRightMissing")],
	["no right to tokens", "TokenRightMissing", () => rights("token", "TokenRightMissing")],
	["no right to evict", "EvictRightMissing", () => rights("evict", "EvictRightMissing")],
	["no right to see DaemonSets", "DrainRightMissing", () => rights("drain", "DrainRightMissing")],
	["no right to see claims", "ReadRightMissing", () => rights("read", "ReadRightMissing")],
	[
		"no right to install",
		"InstallRightMissing",
		() => judgeInstallRights(lackingFacts, eu).then((each) => each.findings),
	],
	["a namespace that ends", "NamespaceEnding", () => judgeAnchor(read({ isEnding: true }), eu).findings],
	["agents before an installation", "AgentsThere", () => judgeAgentsBefore(agents(agent("a")), eu).findings],
	["no agents", "NoAgents", () => judgeAgentCount(agents(), noEnds, eu).findings],
	["agents of which none is ready", "NoAgents", () => judgeAgentCount(agents(agent("a", false)), noEnds, eu).findings],
	["a context without agents", "NoAgents", () => judgeAnswers({ kind: "none", context: eu }, [], eu).findings],
	["a single agent", "SingleAgent", () => judgeAgentCount(agents(agent("a")), noEnds, eu).findings],
	[
		"an agent that is not ready",
		"AgentNotReady",
		() => judgeAgentCount(agents(agent("a"), agent("b", false)), noEnds, eu).findings,
	],
	["an agent that was killed for its memory", "AgentMemory", () => judgedMemory("224Mi")],
	[
		"an agent that is not reached",
		"AgentSilent",
		() => judgeAnswers({ kind: "failed", context: eu, problem: "its certificate expired" }, [], eu).findings,
	],
	[
		"one agent of two that does not answer",
		"AgentSilent",
		() => judgeAnswers(reached, [saying(), { who: "pod b", said: unread }], eu).findings,
	],
	["an API server whose clock is ahead", "ClockSkew", () => judgeClocks(serverClock(6_000), [], eu).findings],
	["an agent whose clock is behind", "ClockSkew", () => judgeClocks(serverClock(0), [saying({}, -6_000)], eu).findings],
	["a certificate that expires soon", "CertificateExpires", () => judgedCertificates(13).findings],
	["a certificate that expired", "CertificateExpires", () => judgedCertificates(-1).findings],
	["a CA that expires soon", "CaExpires", () => judgedCertificates(300, 13).findings],
	["agents that do not tell their certificates", "NotChecked", () => judgeCertificates([saying()], nowMs, eu).findings],
	[
		"a member that others do not reach",
		"MembersApart",
		() => judgePeers([{ member: "m2", answer: unread }], { name: "eu", suggest: suggestDefault }).findings,
	],
	["a Service without an address", "ServiceWithoutAddress", () => judgeServedAt([], members[0])],
	[
		"a Service whose address no list has",
		"AddressDiffers",
		() => judgeServedAt(["10.0.0.1:8444"], { id: "1", name: "m1" }),
	],
	[
		"a list with an address that the Service has not",
		"AddressDiffers",
		() => judgeServedAt(["10.0.0.1:8444"], { id: "1", name: "m1", address: "10.0.0.2:8444" }),
	],
	["an agent that says nothing", "NotChecked", () => judgeVersions([], [], "kubectl version").findings],
	[
		"an agent one minor version apart",
		"VersionsDiffer",
		() => judgeVersions(speaking(minorAhead(1)), [], "kubectl version").findings,
	],
	[
		"an agent of a version that lets budgets break",
		"AgentUnsafe",
		() => judgeVersions(speaking("0.1.0"), [], "kubectl version").findings,
	],
	[
		"one agent of two with such a version",
		"AgentUnsafe",
		() => judgeVersions([...speaking(clientVersion), ...speaking("0.1.9")], [], "kubectl version").findings,
	],
	[
		"an agent two minor versions apart",
		"VersionsApart",
		() => judgeVersions(speaking(minorAhead(2)), [], "kubectl version").findings,
	],
	[
		"an agent of another major version",
		"VersionsApart",
		() => judgeVersions(speaking("2.1.0"), [], "kubectl version").findings,
	],
	[
		"agents of a cluster that differ",
		"VersionsDiffer",
		() => judgeVersions([...speaking(clientVersion), ...speaking(patchAhead)], [], "kubectl version").findings,
	],
	[
		"a feature that others have",
		"FeaturesDiffer",
		() => judgeVersions(speaking(clientVersion), speaking(clientVersion, ["Probe"]), "kubectl version").findings,
	],
	[
		"a pod elsewhere with the agents' label",
		"ForeignAgentPods",
		() => judgeLabelledPods(read([{ namespace: "shop", name: "x" }]), agents(), eu).findings,
	],
	[
		"lists that differ",
		"FleetsDiffer",
		() => listsOf(column(), column({ name: "us", description: description({ fleetHash: "5f" }) })),
	],
	[
		"a member that a list leaves out",
		"MemberUnresolved",
		() => listsOf(column({ description: description({ unresolved: [{ id: "3", name: "m3" }] }) })),
	],
	["a member without a context", "MemberWithoutContext", () => judgeWay(column({ context: "" })).findings],
	["one that nobody reaches", "PeerUnreachable", () => judgeWay(column({ context: "", description: unread })).findings],
	[
		"a member without an address",
		"MemberWithoutAddress",
		() => judgeWay(column({ listed: { id: "1", name: "m1" } })).findings,
	],
	["a policy that is missing", "PolicyMissing", () => judgePolicies(policiesOf({ policy: undefined }), eu).findings],
	["a policy without a binding", "PolicyMissing", () => judgePolicies(policiesOf({ binding: undefined }), eu).findings],
	[
		"a binding that only warns",
		"PolicyWeak",
		() => judgePolicies(policiesOf({ binding: binding("xpdb-leases", ["Warn"]) }), eu).findings,
	],
	[
		"a binding of another policy",
		"PolicyWeak",
		() => judgePolicies(policiesOf({ binding: binding("mine") }), eu).findings,
	],
	[
		"a policy that lets errors pass",
		"PolicyWeak",
		() => judgePolicies(policiesOf({ policy: policy("xpdb-leases", "Ignore") }), eu).findings,
	],
	["an account that can read the CA's key", "CaKeyReadable", () => judgeKeyReaders(read(["shop/ci"]), eu).findings],
	["x-pdb's webhooks", "XpdbBeside", () => judgeXpdb(webhooksOf("eviction.x-pdb.form3.tech"), eu).findings],
	["a budget that nobody can read", "InvalidBudget", () => judgeReadable(refused("InvalidBudget"), options)],
	["a budget of two selectors", "SelectorsDiffer", () => judgeReadable(refused("SelectorsDiffer"), options)],
	["an owner without scale", "ExpectedPodsUnknown", () => judgeReadable(refused("ExpectedPodsUnknown"), options)],
	[
		"an agent that may not list workloads",
		"WorkloadsNotListed",
		() => judgeReadable(refused("WorkloadsNotListed"), options),
	],
	[
		"a budget that a member lacks",
		"BudgetsDiffer",
		() => judgeSame(judged({ row: row({ members: row().members.slice(1) }) }), options),
	],
	[
		"a budget that is suspended",
		"BudgetSuspended",
		() => judgeInForce(judged({ row: row({ members: suspendedIn(["eu", "us"]) }) }), { ...options, now: nowMs }),
	],
	["a budget that can never be met", "BudgetNeverMet", () => judgeMet(refused("BudgetNeverMet"), options)],
	[
		"a budget without pods",
		"BudgetSelectsNothing",
		() => judgeMet(judged({ row: row({ perCluster: new Map([["eu", { healthy: 0, expected: 0 }]]) }) }), options),
	],
	[
		"pods without an owner",
		"PodsWithoutOwner",
		() => judgeOwners(judged({ ownerless: [{ cluster: "eu", pod: "shop/a" }] }), "eu", options),
	],
	[
		"pods with other labels than their template",
		"PodsMislabelled",
		() => judgeLabels(judged({ mislabelled: [moved] }), options),
	],
	["a budget that was not counted", "NotChecked", () => uncounted([judged({ isCounted: false })])],
];

describe("check finds", () => {
	for (const [what, reason, find] of rows) {
		test(what, async () => {
			const found = await find();
			expect(found.map((each) => each.reason)).toEqual(
				reason === "FleetsDiffer" ? ["FleetsDiffer", "FleetsDiffer"] : [reason],
			);
			expect(found.every(({ message }) => /^\S.*[^.]$/.test(message))).toBe(true);
		});
	}

	test("each of its reasons in one of these", () => {
		const provoked = new Set<string>(rows.map(([, reason]) => reason));
		expect(Object.keys(ownCheckReasons).filter((reason) => !provoked.has(reason))).toEqual([]);
	});

	test("how long a budget has been suspended, by whom and why, and the command that ends it", () => {
		const members = suspendedIn(["eu", "us"]);
		expect(judgeInForce(judged({ row: row({ members }) }), { ...options, now: nowMs })).toEqual([
			{
				reason: "BudgetSuspended",
				message: "budget shop/db is suspended and blocks no eviction, by alice@laptop for 26h00m: migration",
				fix: "kubectl xpdb unsuspend db -n shop",
			},
		]);
	});

	test("no command that xpdb does not have", async () => {
		const fixes = (await Promise.all(rows.map(async ([, , find]) => find()))).flat().flatMap(({ fix }) => fix ?? []);
		const ours = fixes.filter((fix) => fix.startsWith("kubectl xpdb ")).map((fix) => fix.split(" ").slice(2));
		expect(ours.length).toBeGreaterThan(3);
		for (const words of ours) expect((await parseCommandLine(words)).kind).toBe("command");
		expect(
			fixes.filter(
				(fix) => !/^(date|kubectl (xpdb|get|version|create|scale|describe|apply|auth|config)) /.test(`${fix} `),
			),
		).toEqual([]);
	});

	test("nothing where all is well", async () => {
		const well: readonly Found[] = [
			judgeServer(read("v1.30.0"), undefined, eu).findings,
			judgeBudgetKind(read({ fields: new Set(["selector", "minAvailable", "maxUnavailable", "suspend"]) }), eu)
				.findings,
			judgeAgentCount(agents(agent("a"), agent("b")), noEnds, eu).findings,
			judgeVersions(speaking(clientVersion.slice(1)), speaking(clientVersion), "kubectl version").findings,
			judgeLabelledPods(read([{ namespace: "xpdb-system", name: "a" }]), agents(agent("a")), eu).findings,
			listsOf(column(), column({ name: "us", description: description({ clusterId: "2" }) })),
			judgeWay(column()).findings,
			judgeAgentsBefore(agents(), eu).findings,
			judgeAnchor(read(undefined), eu).findings,
			judgeBudgetKind(read(undefined), eu, { mayBeMissing: true }).findings,
			judgeAnswers(reached, [saying()], eu).findings,
			// The limit is 5 s. These clocks seem 5.5 s and 5.1 s apart, but the readings may be wrong by 0.55 s.
			judgeClocks(serverClock(-5_500), [saying({}, -400)], eu).findings,
			judgedCertificates(15, 15).findings,
			judgePeers([{ member: "m2", answer: description() }], { name: "eu", suggest: suggestDefault }).findings,
			judgePolicies(policiesOf({}), eu).findings,
			[...judgeKeyReaders(read([]), eu).findings, ...judgeKeyReaders(read(undefined), eu).findings],
			judgeXpdb(webhooksOf("eviction.example.com"), eu).findings,
			judgeReadable(judged(), options),
			judgeSame(judged(), options),
			judgeMet(judged(), options),
			judgeInForce(judged(), { ...options, now: nowMs }),
			// The budget still applies. Another check reports that its members differ.
			judgeInForce(judged({ row: row({ members: suspendedIn(["eu"]) }) }), { ...options, now: nowMs }),
			judgeOwners(judged({ ownerless: [{ cluster: "us", pod: "shop/a" }] }), "eu", options),
		];
		expect(well.flat()).toEqual([]);
	});

	test("a budget that is used up for now, and names none", () => {
		const used = judged({ findings: [{ verdict: "Waits", reason: "BudgetExhausted", message: "no", usedBy: [] }] });
		expect([...judgeReadable(used, options), ...judgeMet(used, options)]).toEqual([]);
	});
});

describe("what could not be read", () => {
	const unknown = { text: "?", findings: [{ reason: "NotChecked", message: "nodes is forbidden", fix: undefined }] };
	const silent: PolicyObjects = { policies: unread, webhooks: unread };
	const silentFacts = { rights: async () => unread, user: Promise.resolve(unread) };
	const cells = [
		[
			"a right",
			() => judgeRights(neededRights("xpdb-system", "a", "shop").evict, "EvictRightMissing", silentFacts, eu),
		],
		["the kind", () => judgeBudgetKind(unread, eu)],
		["agents", () => judgeAgentCount(unread, noEnds, eu)],
		["labelled pods", () => judgeLabelledPods(unread, agents(), eu)],
		["where agents are", () => judgeLabelledPods(read([]), unread, eu)],
		["the clock", () => judgeClocks(unread, [], eu)],
		["policies", () => judgePolicies(silent, eu)],
		["who can read the CA's key", () => judgeKeyReaders(unread, eu)],
		["webhooks", () => judgeXpdb(silent, eu)],
		["who its members are", () => judgeWay(column({ description: unread }))],
		["a description", () => judgeLists([column({ description: unread })], suggestDefault).get("eu")],
	] as const;
	for (const [what, judge] of cells) {
		test(`is unknown, and never well: ${what}`, async () => {
			expect(await judge()).toEqual(unknown);
		});
	}
});
