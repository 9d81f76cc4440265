// The facts for provoked-reasons.test.ts: a healthy fleet, of which each row changes one fact.
import { credentials } from "@grpc/grpc-js";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { AgentAccess } from "../../../plugin/fleet/agent-access.ts";
import { budgetRow } from "../../../plugin/fleet/budget-table.ts";
import type { ownCheckReasons } from "../../../plugin/check/check-reason.ts";
import type { Reading } from "../../../plugin/check/check-report.ts";
import { type JudgedBudget } from "../../../plugin/check/judge-budgets.ts";
import { judgeCertificates } from "../../../plugin/check/judge-clocks.ts";
import { type FleetColumn, judgeLists } from "../../../plugin/check/judge-fleet.ts";
import { judgeRights } from "../../../plugin/check/judge-rights.ts";
import { neededRights, type Right } from "../../../plugin/check/needed-rights.ts";
import { judgeAgentCount } from "../../../plugin/check/judge-agents.ts";
import type { AgentOfCluster } from "../../../plugin/check/read-agents.ts";
import { clientVersion } from "../../../plugin/kubernetes/client-version.ts";
import type { AgentDescription } from "../../../proto/agent-cluster.ts";
import { AgentServiceClient } from "../../../proto/gen/xpdb/v1/agent.ts";
import { newContext } from "../../support/build-context.ts";
import { fullDescription } from "../../support/samples.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

export const eu = newContext("eu");
export const read = <T>(value: T): Reading<T> => ({ kind: "read", value });
export const unread: Reading<never> = { kind: "unread", why: "nodes is forbidden" };
export const options = {
	suggest: suggestDefault,
	context: "eu",
	contexts: new Map([
		["eu", "eu"],
		["us", "us"],
	]),
	answering: ["eu", "us"],
};

export const agent = (name: string, ready = true) => ({ namespace: "xpdb-system", name, uid: name, ready, port: 8443 });
export const agents = (...pods: readonly ReturnType<typeof agent>[]) => read({ namespaces: ["xpdb-system"], pods });
export const noEnds = read([]);
export const judgedMemory = (limit: string | undefined, ready = true) => {
	const end = { pod: "xpdb-system/a", how: "OOMKilled", restarts: 3, limit, isOfDeployment: true };
	return judgeAgentCount(agents(agent("a", ready), agent("b", ready)), read([end]), eu).findings;
};
export const speaking = (version: string, features: readonly string[] = []) => [{ version, features }];

export const [major = 0, minor = 0, patch = 0] = clientVersion.slice(1).split(".").map(Number);
export const minorAhead = (by: number): string => `${major}.${minor + by}.0`;
export const patchAhead = `${major}.${minor}.${patch + 1}`;
export const members = ["1", "2"].map((id) => ({ id, name: `m${id}`, address: `m${id}:8444` }));
export const description = (change: Partial<AgentDescription> = {}): Reading<AgentDescription> =>
	read({
		clusterId: "1",
		clusterName: "m1",
		version: clientVersion,
		features: [],
		members,
		fleetHash: fleetHash(["1", "2"]),
		leaseNamespace: "xpdb-system",
		...change,
	});
export const column = (change: Partial<FleetColumn> = {}): FleetColumn => ({
	name: "eu",
	context: "eu",
	description: description(),
	listed: members[0],
	...change,
});
export const saying = (change: Partial<AgentDescription> = {}, aheadMs = 0): AgentOfCluster => {
	const told = description(change);
	const clock = { aheadMs, withinMs: 5 };
	return { who: "pod a", said: told.kind === "read" ? read({ description: told.value, clock }) : told };
};
export const reached: AgentAccess = {
	kind: "reached",
	context: eu,
	description: fullDescription,
	askedAt: 0,
	tookMs: 5,
	client: new AgentServiceClient("unix:/nowhere", credentials.createInsecure()),
	namespaces: ["xpdb-system"],
	leave: () => undefined,
	close: () => undefined,
};
export const serverClock = (aheadMs: number) => read({ aheadMs, withinMs: 550 });
export const nowMs = Date.parse("2026-06-01T00:00:00Z");
export const certificates = (days: number, ofCa: number) => {
	const [certificate, authority] = [days, ofCa].map((each) => ({
		sha256: "",
		expiresAtSeconds: nowMs / 1_000 + each * 86_400,
	}));
	if (!certificate || !authority) throw new Error("there are two");
	return { certificates: { certificate, authorities: [authority] } };
};
export const judgedCertificates = (days: number, ofCa = 3_000) =>
	judgeCertificates([saying(certificates(days, ofCa))], nowMs, eu);

export const listsOf = (...columns: readonly FleetColumn[]) =>
	[...judgeLists(columns, suggestDefault).values()].flatMap(({ findings }) => findings);

export function rights(
	kind: keyof ReturnType<typeof neededRights>,
	reason: keyof typeof ownCheckReasons,
	user = "alice",
) {
	const wanted: readonly Right[] = neededRights("xpdb-system", "xpdb-operator", undefined)[kind];
	const [missing] = wanted.slice(-1);
	const facts = {
		rights: async (right: Right) => read(right !== missing),
		user: Promise.resolve(read(user)),
	};
	return judgeRights(wanted, reason, facts, eu).then(({ findings }) => findings);
}

export const lackingFacts = { rights: async () => read(false), user: Promise.resolve(read("alice")) };

export const name = { namespace: "shop", name: "db" };
export const selector = { requirements: [] };
export const row = (change: Partial<JudgedBudget["row"]> = {}): JudgedBudget["row"] => ({
	...budgetRow({ name, selector }, [], []),
	problem: undefined,
	members: ["eu", "us"].map((cluster) => ({
		cluster,
		bound: "maxUnavailable 1",
		suspended: false,
		suspension: undefined,
	})),
	perCluster: new Map([["eu", { healthy: 3, expected: 3 }]]),
	...change,
});
export const judged = (change: Partial<JudgedBudget> = {}): JudgedBudget => ({
	name,
	row: row(),
	findings: [],
	ownerless: [],
	mislabelled: [],
	isCounted: true,
	...change,
});
export const refused = (
	reason: "BudgetNeverMet" | "SelectorsDiffer" | "InvalidBudget" | "ExpectedPodsUnknown" | "WorkloadsNotListed",
): JudgedBudget => judged({ findings: [{ verdict: "Refused", reason, message: "it does", usedBy: [] }] });
