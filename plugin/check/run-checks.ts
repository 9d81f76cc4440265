// Implements `kubectl xpdb check`: it asks everything in parallel and reports row by row in a fixed order. It changes nothing.
import { type AgentAccess, type AgentAccessResult, accessAgents } from "../fleet/agent-access.ts";
import { operatorAccount } from "../fleet/agent-token.ts";
import { assembleFleet, type Fleet } from "../fleet/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import { budgetRows, type CheckedFleet } from "./budget-rows.ts";
import { type CheckRow, type CheckTitle, type ClusterCheck, checkRow, type Reading } from "./check-report.ts";
import { type AskedCluster, accessRow, clusterRow } from "./cluster-rows.ts";
import { judgeBudgetKind } from "./judge-access.ts";
import { judgeAgentCount, judgeAnswers, judgeLabelledPods, judgeVersions, type SpeakingAgent } from "./judge-agents.ts";
import { judgeCertificates, judgeClocks } from "./judge-clocks.ts";
import { type FleetColumn, judgeLists, judgePeers, judgeWay } from "./judge-fleet.ts";
import { judgePeersService } from "./judge-peers-service.ts";
import { judgeKeyReaders } from "./judge-key-readers.ts";
import { judgePolicies, judgeXpdb } from "./judge-policies.ts";
import { judgeRights } from "./judge-rights.ts";
import { matchMembers } from "./member-contexts.ts";
import { neededRights, type Right } from "./needed-rights.ts";
import { type AgentOfCluster, askEachAgent } from "./read-agents.ts";
import { type ClusterFacts, readCluster } from "./read-cluster.ts";
import { identified, readFleet, readPeers } from "./read-fleet.ts";

export interface CheckOptions {
	/** The namespace whose budgets and pods are checked, and in which the user needs rights to pods; undefined for all. */
	readonly namespace: string | undefined;
	/** Monotonic. */
	readonly now: () => number;
}

interface Asked extends AskedCluster {
	readonly access: Promise<AgentAccessResult>;
	readonly agents: Promise<readonly AgentOfCluster[]>;
}

/** Yields the rows in order, each as soon as it and all earlier rows are known. */
export async function* runChecks(contexts: readonly KubeContext[], options: CheckOptions): AsyncGenerator<CheckRow> {
	const asked = contexts.map((context): Asked => {
		const facts = readCluster(context);
		return { context, facts, access: accessInTime(context, facts), agents: askAgents(context, facts) };
	});
	const fleet = openFleet(asked);
	try {
		const rows = [
			...accessRows(asked),
			...rightsRows(asked, options),
			...agentRows(asked),
			...fleetRows(asked),
			...policyRows(asked),
		];
		const budgets = budgetRows(withContexts(fleet, asked), contexts, options);
		// Prevents unhandled rejections. The code below throws the failure of a row in its turn.
		for (const row of [...rows, budgets]) row.catch(() => undefined);
		for (const row of rows) yield await row;
		const key = await keyRow(asked);
		if (key) yield key;
		yield* await budgets;
	} finally {
		await closeAll(fleet, asked);
	}
}

async function accessInTime(context: KubeContext, { version }: ClusterFacts): Promise<AgentAccessResult> {
	if ((await version).kind === "read") return accessAgents(context);
	return { kind: "failed", context, problem: "its API server gives no answer" };
}

async function askAgents(context: KubeContext, { agents }: ClusterFacts): Promise<readonly AgentOfCluster[]> {
	const found = await agents;
	return found.kind === "read" ? askEachAgent(context, found.value) : [];
}

async function openFleet(asked: readonly Asked[]): Promise<Reading<Fleet>> {
	const reached = new Map<string, AgentAccess>();
	for (const { access } of asked) {
		const result = await access;
		if (result.kind === "reached" && !reached.has(result.description.clusterId)) {
			reached.set(result.description.clusterId, result);
		}
	}
	if (reached.size === 0) return { kind: "unread", why: "no agent was reached" };
	try {
		return { kind: "read", value: await assembleFleet([...reached.values()], { mayMiss: true }) };
	} catch (error) {
		if (!(error instanceof FleetUncoveredError)) throw error;
		return { kind: "unread", why: "the clusters are not one fleet" };
	}
}

/** Adds the contexts of members whose agents were not reached. */
async function withContexts(opening: Promise<Reading<Fleet>>, asked: readonly Asked[]): Promise<Reading<CheckedFleet>> {
	const fleet = await opening;
	if (fleet.kind === "unread") return fleet;
	const { members, descriptions } = fleet.value;
	const { contextOf } = matchMembers(identified(await readAccesses(asked), await readIds(asked)), members);
	const memberOf: Fleet["memberOf"] = (context) => members.find(({ id }) => contextOf.get(id) === context);
	return { kind: "read", value: { members, descriptions, memberOf, contextOf: (id) => contextOf.get(id) } };
}

async function closeAll(opening: Promise<Reading<Fleet>>, asked: readonly Asked[]): Promise<void> {
	const fleet = await opening.catch(() => undefined);
	if (fleet?.kind === "read") fleet.value.close();
	for (const { access } of asked) {
		const result = await access.catch(() => undefined);
		if (result?.kind === "reached") result.close();
	}
}

function accessRows(asked: readonly Asked[]): readonly Promise<CheckRow>[] {
	const title = { category: "access", title: "it has XPodDisruptionBudgets", isNeeded: false } as const;
	return [
		accessRow(asked),
		clusterRow(asked, title, async ({ context, facts }) => judgeBudgetKind(await facts.budgetKind, context)),
	];
}

function rightsRows(asked: readonly Asked[], { namespace }: CheckOptions): readonly Promise<CheckRow>[] {
	const rights = { category: "rights", isNeeded: true } as const;
	const of = ({ context }: Asked) =>
		neededRights(context.agents.namespace, context.agents.account ?? operatorAccount, namespace);
	const judge = (
		title: CheckTitle,
		reason: Parameters<typeof judgeRights>[1],
		wanted: (each: Asked) => readonly Right[],
	) => clusterRow(asked, title, (each) => judgeRights(wanted(each), reason, each.facts, each.context));
	return [
		judge({ ...rights, title: "may reach the agents" }, "ReachRightMissing", (each) => of(each).reach),
		clusterRow(asked, { ...rights, title: "may ask for an agent's token" }, async (each) => {
			// Agents that were reached have accepted a token, perhaps that of a team's own account.
			if ((await each.access).kind === "reached") return { text: "yes", findings: [] };
			return judgeRights(of(each).token, "TokenRightMissing", each.facts, each.context);
		}),
		judge({ ...rights, title: "may evict pods" }, "EvictRightMissing", (each) => of(each).evict),
		judge({ ...rights, title: "may cordon and drain nodes" }, "DrainRightMissing", (each) => of(each).drain),
		judge({ ...rights, title: "may read owners, PDBs, volumes" }, "ReadRightMissing", (each) => of(each).read),
	];
}

function agentRows(asked: readonly Asked[]): readonly Promise<CheckRow>[] {
	const agents = { category: "agents", isNeeded: true } as const;
	return [
		clusterRow(asked, { ...agents, title: "agents are ready, two or more" }, async ({ context, facts }) =>
			judgeAgentCount(await facts.agents, await facts.memoryEnds, context),
		),
		clusterRow(asked, { ...agents, title: "each agent answers" }, async ({ context, access, agents: each }) =>
			judgeAnswers(await access, await each, context),
		),
		clusterRow(asked, { ...agents, title: "versions of agents and plugin" }, async ({ context, agents: own }) => {
			const all = await Promise.all(asked.map(async (each) => speakingAgents(await each.agents)));
			const fix = context.suggest.xpdbInAll(["version"]);
			return judgeVersions(speakingAgents(await own), all.flat(), fix);
		}),
		clusterRow(
			asked,
			{ ...agents, title: "clocks agree within 5 s", isNeeded: false },
			async ({ context, facts, agents: each }) => judgeClocks(await facts.clock, await each, context),
		),
		clusterRow(
			asked,
			{ ...agents, title: "certificates last two weeks", isNeeded: false },
			async ({ context, agents: each }) => judgeCertificates(await each, Date.now(), context),
		),
		clusterRow(
			asked,
			{ ...agents, title: "no other pods with their label", isNeeded: false },
			async ({ context, facts }) => judgeLabelledPods(await facts.labelled, await facts.agents, context),
		),
	];
}

function speakingAgents(agents: readonly AgentOfCluster[]): readonly SpeakingAgent[] {
	return agents.flatMap(({ said }) => (said.kind === "read" ? [said.value.description] : []));
}

function fleetRows(asked: readonly Asked[]): readonly Promise<CheckRow>[] {
	const title = { category: "fleet", isNeeded: true } as const;
	const reading = readColumns(asked);
	const suggest = asked[0]?.context.suggest;
	const row = async (
		text: string,
		judge: (columns: readonly FleetColumn[]) => (name: string) => ClusterCheck | undefined,
	) => {
		const columns = await reading;
		return checkRow(
			{ ...title, title: text },
			columns.map(({ name }) => name),
			judge(columns),
		);
	};
	return [
		row("all list the same fleet", (columns) => {
			const judged = suggest ? judgeLists(columns, suggest) : new Map<string, never>();
			return (name) => judged.get(name);
		}),
		row("every member has a context", (columns) => (name) => {
			const column = columns.find((each) => each.name === name);
			return column && judgeWay(column);
		}),
		reading.then(async (columns) =>
			clusterRow(
				asked,
				{ ...title, isNeeded: false, title: "their Service has its address" },
				async ({ context, facts }) =>
					judgePeersService(await facts.peers, columns.find(({ name }) => name === context.name)?.listed, context),
			),
		),
		// Starts as soon as a cluster's own agents are reached, without waiting for other clusters.
		clusterRow(asked, { ...title, title: "agents reach other members" }, async ({ context, access }) =>
			judgePeers(await readPeers(await access), context),
		),
	];
}

async function readColumns(asked: readonly Asked[]): Promise<readonly FleetColumn[]> {
	return readFleet(await readAccesses(asked), await readIds(asked));
}

async function readIds(asked: readonly Asked[]): Promise<ReadonlyMap<string, string>> {
	const ids = await Promise.all(asked.map(async ({ context, facts }) => [context.name, await facts.id] as const));
	return new Map(ids.flatMap(([context, id]) => (id.kind === "read" ? [[context, id.value] as const] : [])));
}

async function readAccesses(asked: readonly Asked[]) {
	return Promise.all(asked.map(async ({ context, access }) => [context.name, await access] as const));
}

function policyRows(asked: readonly Asked[]): readonly Promise<CheckRow>[] {
	const policies = { category: "policies", isNeeded: false } as const;
	return [
		clusterRow(asked, { ...policies, title: "policies keep others out" }, async ({ context, facts }) =>
			judgePolicies(await facts.policies, context),
		),
		clusterRow(asked, { ...policies, title: "no x-pdb beside the agents" }, async ({ context, facts }) =>
			judgeXpdb(await facts.policies, context),
		),
	];
}

/** Undefined if no cluster shows the key to this user. Operators may not read the key, and do not need this check. */
async function keyRow(asked: readonly Asked[]): Promise<CheckRow | undefined> {
	const readings = await Promise.all(asked.map(({ facts }) => facts.keyReaders));
	if (!readings.some((reading) => reading.kind === "read" && reading.value !== undefined)) return undefined;
	const title = { category: "policies", isNeeded: false, title: "no account can read the CA's key" } as const;
	return clusterRow(asked, title, async ({ context, facts }) => judgeKeyReaders(await facts.keyReaders, context));
}
