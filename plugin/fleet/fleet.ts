// The fleet that the contexts belong to: every member, also those that no context names. It is covered or refused.
import { setTimeout as delay } from "node:timers/promises";
import type { BudgetsOfMember, ListedBudgets } from "../../disruption/budget/coverage-judgement.ts";
import { classifyFailure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster, AgentDescription } from "../../proto/agent-cluster.ts";
import { createMemberClient } from "../../proto/member-client.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { refuseSameCluster } from "../kubernetes/same-cluster.ts";
import { FleetUncoveredError, sameClusterError } from "../terminal/errors.ts";
import { type AgentAccess, type AgentAccessResult, accessAgents } from "./agent-access.ts";
import type { Anchor } from "./anchor.ts";
import { diagnoseRoute } from "./diagnose-route.ts";
import { fleetDifferences, membersWithoutWay } from "./fleet-differences.ts";
import { listAhead, listBudgetsOf } from "./list-budgets.ts";
import { askAgent, type Meeting, saidWhenMet } from "./meeting.ts";
import { seeSilent } from "./see-silent.ts";

/** While a member is added or removed the lists differ for a moment: so long whoever starts in it asks again. */
const agreeWithinMs = 5_000;
const askAgainAfterMs = 250;

export interface Fleet {
	/** All members, sorted by name; others after a reconnect(). */
	readonly members: readonly AgentCluster[];
	/** What each member said of itself, by cluster id. */
	readonly descriptions: ReadonlyMap<string, AgentDescription>;
	/** Why members gave no answer: only where that is no refusal. */
	readonly problems: readonly string[];
	/** The member that a context leads to; undefined for a cluster without agents. */
	memberOf(contextName: string): AgentCluster | undefined;
	/** The name of the context that leads to a member; undefined where none of this run's does. */
	contextOf(memberId: string): string | undefined;
	/** Where the agents of a context's cluster are; empty where it has none. */
	agentNamespaces(contextName: string): readonly string[];
	/** The budgets of these namespaces in all members, by consistent lists; one member without an answer fails it. */
	listBudgets(namespaces: readonly string[]): Promise<readonly BudgetsOfMember[]>;
	/** What was listed while the members were reached; as old as it says. */
	readonly listedAhead?: ListedBudgets | undefined;
	/**
	 * Asks the agents of all contexts anew which members there are, and goes on with those: also where they are others. Rejects
	 * with AgentUnavailableError where one of them gives no answer, with FleetUncoveredError that names those who disagree;
	 * then everything stays as it was.
	 */
	reconnect(): Promise<void>;
	/** This agent's pod is about to be evicted: use another one. */
	leave(contextName: string, podUid: string): void;
	close(): void;
}

/** A context, and what is being read of its agents. */
export interface ContextAnchor {
	readonly context: KubeContext;
	readonly anchor: Anchor;
}

export interface FleetConnection {
	/** Undefined where no cluster has agents or budgets of ours. */
	readonly fleet: Fleet | undefined;
	/** Contexts whose clusters have neither: kubectl's own behaviour. */
	readonly uncovered: readonly KubeContext[];
	/** Contexts whose API servers give no answer, and which `mayLose` let go. */
	readonly lost?: readonly { readonly context: KubeContext; readonly problem: string }[];
}

/** As connectFleet() (connect-fleet.ts). */
export async function connectByAnchors(
	anchors: readonly ContextAnchor[],
	options: ConnectOptions,
): Promise<FleetConnection> {
	// With one context the others are asked through its agent; with more of them nobody knows yet which lead where.
	const question = { budgetsOf: options.namespaces, others: anchors.length === 1 };
	const results = await Promise.all(
		anchors.map(({ context, anchor }) =>
			waitFor(context.name, () => accessAgents(context, { anchor, question }), options.silent),
		),
	);
	const reached = results.filter((result) => result.kind === "reached");
	const closeAll = (): void => {
		for (const access of reached) access.close();
	};
	try {
		const { failed, lost } = await sortFailures(results, reached.length > 0 ? options.mayLose : undefined);
		// A table shows what the others say.
		if (failed.length > 0 && (options.mayMiss !== true || reached.length === 0)) {
			throw new FleetUncoveredError(
				"Cannot cover the fleet: the agents of some clusters cannot be reached, nothing was touched",
				failed,
			);
		}
		const uncovered = results.filter((result) => result.kind === "none").map(({ context }) => context);
		refuseSameCluster(reached.map(({ context, description }) => [context.name, description.clusterId]));
		await refuseSameNamespace(uncovered);
		const fleet = reached.length > 0 ? await assembleAgreed(reached, { ...options, missed: failed }) : undefined;
		return { fleet, uncovered, lost };
	} catch (error) {
		closeAll();
		throw error;
	}
}

/** `failed`: one line each. */
async function sortFailures(results: readonly AgentAccessResult[], mayLose: ConnectOptions["mayLose"]) {
	const failed: string[] = [];
	const lost: { readonly context: KubeContext; readonly problem: string }[] = [];
	for (const result of results) {
		if (result.kind !== "failed") continue;
		const { context, problem, isSilent = false } = result;
		if (isSilent && mayLose && (await mayLose(context))) lost.push({ context, problem });
		else failed.push(`${context.name}: ${problem}`);
	}
	return { failed, lost };
}

export interface ConnectOptions {
	/**
	 * Whether the fleet may be met without a context whose API server gives no answer: only where nothing is evicted in it. Its cluster is
	 * asked through the agents of the others then, and has to answer like any other member.
	 */
	readonly mayLose?: (context: KubeContext) => boolean | Promise<boolean>;
	/** For tables, which show what is there: members behind no context may be missing then. */
	readonly mayMiss?: boolean;
	/** Whose budgets are asked for beside the question who the members are, none for those of all; left out, nothing is. */
	readonly namespaces?: readonly string[] | undefined;
	/** The names of contexts and members whose answers are waited for at this moment. */
	readonly silent?: Set<string>;
}

interface AssembleOptions extends ConnectOptions {
	/** Why some contexts lead nowhere: told beside the members that give no answer. */
	readonly missed?: readonly string[];
}

/** As assembleFleet(), of members who agree by now. Nothing is taken from the answers in which they did not. */
async function assembleAgreed(accesses: readonly AgentAccess[], options: AssembleOptions): Promise<Fleet> {
	const until = performance.now() + agreeWithinMs;
	for (let asked = accesses; ; asked = await describeAnew(asked)) {
		try {
			return await assembleFleet(asked, options);
		} catch (error) {
			if (!(error instanceof DifferentFleetsError) || performance.now() > until) throw error;
			await delay(askAgainAfterMs);
		}
	}
}

/** What the agents say by now. Rejects where one of them gives no answer, or speaks for another cluster than before. */
async function describeAnew(accesses: readonly AgentAccess[]): Promise<readonly AgentAccess[]> {
	return Promise.all(
		accesses.map(async (access) => {
			const meeting = await askAgent(access.client, access.context.name);
			if (meeting.description.clusterId !== access.description.clusterId) {
				throw new FleetUncoveredError("Cannot go on with the fleet", [
					`${access.context.name}: its agent answers for another cluster than before`,
				]);
			}
			return { ...access, ...meeting };
		}),
	);
}

/**
 * The fleet of these agents, with all its members. Throws as connectFleet() does, and leaves the agents open then; what it returns
 * closes them.
 */
export async function assembleFleet(
	accesses: readonly AgentAccess[],
	{ mayMiss = false, namespaces, silent, missed = [] }: AssembleOptions,
): Promise<Fleet> {
	const described = accesses.map(({ context, description }) => ({ name: context.name, description }));
	refuseDifferentFleets(described);
	const wayless = membersWithoutWay(described);
	if (wayless.length > 0 && !mayMiss) {
		throw new FleetUncoveredError("Cannot cover the fleet: no way leads to some members, nothing was touched", wayless);
	}
	const clusters: RemoteCluster[] = [];
	const idOfContext = new Map(accesses.map(({ context, description }) => [context.name, description.clusterId]));
	let listedAhead: ListedBudgets | undefined;
	const besides = async (members: readonly AgentCluster[]): Promise<void> => {
		if (namespaces !== undefined) listedAhead = await listAhead(members, namespaces, accesses);
	};
	let current = await reachMembers(accesses, [], clusters, { besides, silent });
	if (current.problems.length > 0 && !mayMiss) {
		const problems = current.problems.map(({ text }) => text);
		throw new FleetUncoveredError("Cannot cover the fleet: some members give no answer, nothing was touched", problems);
	}
	return {
		get members() {
			return current.members;
		},
		get descriptions() {
			return current.descriptions;
		},
		get problems() {
			return [...missed, ...current.problems.map(({ text }) => text)];
		},
		contextOf: (memberId) => accesses.find(({ description }) => description.clusterId === memberId)?.context.name,
		memberOf: (contextName) => current.members.find(({ id }) => id === idOfContext.get(contextName)),
		listBudgets: (asked) => listBudgetsOf(current.members, asked),
		listedAhead,
		async reconnect() {
			const next = await reachMembers(await describeAnew(accesses), current.members, clusters);
			const [problem] = next.problems;
			if (problem) throw problem.error;
			current = next;
		},
		agentNamespaces: (contextName) => accesses.find(({ context }) => context.name === contextName)?.namespaces ?? [],
		leave(contextName, podUid) {
			accesses.find(({ context }) => context.name === contextName)?.leave(podUid);
		},
		close() {
			for (const cluster of clusters) cluster.close();
			for (const access of accesses) access.close();
		},
	};
}

interface ReachedMembers {
	readonly members: readonly AgentCluster[];
	readonly descriptions: ReadonlyMap<string, AgentDescription>;
	readonly problems: readonly Problem[];
}

/** Why a member gave no answer. */
interface Problem {
	readonly text: string;
	readonly error: Error;
}

/**
 * The members that the agents declare, `known` ones as they are; what is opened is added to `opened`. `besides` is asked of them at
 * the same time; it may fail, and is then as if it was never asked.
 */
async function reachMembers(
	accesses: readonly Pick<AgentAccess, "context" | "client" | keyof Meeting>[],
	known: readonly AgentCluster[],
	opened: RemoteCluster[],
	{
		besides = async () => undefined,
		silent,
	}: {
		readonly besides?: (members: readonly AgentCluster[]) => Promise<void>;
		readonly silent?: Set<string> | undefined;
	} = {},
): Promise<ReachedMembers> {
	const [first] = accesses;
	if (!first) throw new Error("a fleet without an agent");
	refuseDifferentFleets(accesses.map(({ context, description }) => ({ name: context.name, description })));
	const members = first.description.members
		.toSorted((a, b) => (a.name < b.name ? -1 : 1))
		.map(({ id, name }) => {
			const before = known.find((member) => member.id === id && member.name === name);
			if (before) return before;
			// Its own agents first; any other agent passes the call on.
			const direct = accesses.filter(({ description }) => description.clusterId === id);
			const others = accesses.filter(({ description }) => description.clusterId !== id);
			const routes = [...direct, ...others].map(({ client, context, description }) => {
				const calls = new RemoteCluster({ id, name, client });
				opened.push(calls);
				const asked = first.description.members.find((member) => member.id === description.clusterId);
				return { calls, diagnose: diagnoseRoute({ context, cluster: asked?.name ?? context.name }) };
			});
			return createMemberClient({ id, name, routes });
		});
	// Those behind a context have just said it, and with one context the others to its agent.
	const said = new Map([...saidWhenMet(accesses)].map(([id, { description }]) => [id, description]));
	const asked = besides(members).catch(() => undefined);
	const placeOf = (id: string) => {
		const own = accesses.find(({ description }) => description.clusterId === id)?.context;
		return { context: own?.name ?? "", suggest: (own ?? first.context).suggest };
	};
	const { descriptions, problems } = await describeAll(members, said, { placeOf, silent });
	await asked;
	refuseDifferentFleets(
		members.flatMap(({ id, name }) => {
			const description = descriptions.get(id);
			return description ? [{ name, description }] : [];
		}),
	);
	return { members, descriptions, problems };
}

/** Every member has to answer, but for those that have `said` it; each has as many tries as there are ways to it. */
async function describeAll(
	members: readonly AgentCluster[],
	said: ReadonlyMap<string, AgentDescription>,
	{
		placeOf,
		silent,
	}: {
		readonly placeOf: (id: string) => { readonly context: string; readonly suggest: SuggestedCommands };
		readonly silent: Set<string> | undefined;
	},
): Promise<Omit<ReachedMembers, "members">> {
	const descriptions = new Map<string, AgentDescription>();
	const problems: Problem[] = [];
	await Promise.all(
		members.map(async (member) => {
			for (let attempt = 1; ; attempt += 1) {
				try {
					descriptions.set(
						member.id,
						said.get(member.id) ?? (await waitFor(member.name, () => member.describe(), silent)),
					);
					return;
				} catch (error) {
					if (error instanceof AgentUnavailableError && attempt < 3) continue;
					if (!(error instanceof Error) || !classifyFailure(error)) throw error;
					const place = placeOf(member.id);
					const see =
						error instanceof AgentUnavailableError && place.context !== ""
							? `; see ${seeSilent(error.silent, place)}`
							: "";
					problems.push({ text: `${member.name}: ${error.message}${see}`, error });
					return;
				}
			}
		}),
	);
	return { descriptions, problems: problems.toSorted((a, b) => (a.text < b.text ? -1 : 1)) };
}

/** Whoever does not wait to the end wants to know for whom it was. */
async function waitFor<T>(name: string, ask: () => Promise<T>, silent: Set<string> | undefined): Promise<T> {
	silent?.add(name);
	try {
		return await ask();
	} finally {
		silent?.delete(name);
	}
}

/** Without agents the cluster's id is the uid of its kube-system namespace; who may not read it is known by its address. */
async function refuseSameNamespace(contexts: readonly KubeContext[]): Promise<void> {
	if (contexts.length < 2) return;
	const seen = new Map<string, string>();
	for (const context of contexts) {
		const id = await context.client
			.get<{ readonly metadata: { readonly uid: string } }>("/api/v1/namespaces/kube-system")
			.then(({ metadata }) => metadata.uid)
			.catch(() => context.client.server);
		const other = seen.get(id);
		if (other !== undefined) throw sameClusterError(other, context.name, id);
		seen.set(id, context.name);
	}
}

function refuseDifferentFleets(
	described: readonly { readonly name: string; readonly description: AgentDescription }[],
): void {
	const details = fleetDifferences(described);
	if (details.length > 0) {
		throw new DifferentFleetsError(
			"Cannot cover the fleet: ConfigMap xpdb-fleet must list the same members in every cluster, nothing was touched",
			details,
		);
	}
}

class DifferentFleetsError extends FleetUncoveredError {}
