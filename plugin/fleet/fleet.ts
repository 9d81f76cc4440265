// Connects to all members of the contexts' fleet, including those that no context names. The run is refused unless all members answer or
// `mayMiss` is set.
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
import { askAgent, type Meeting, descriptionsById } from "./meeting.ts";
import { diagnoseCommand } from "./diagnose-command.ts";

/** While a member is added or removed, the lists differ for a moment. A run that starts then asks again for this long. */
const agreeWithinMs = 5_000;
const askAgainAfterMs = 250;
/** How many times a member is asked to describe itself. Each attempt uses the next route. */
const describeTries = 3;

export interface Fleet {
	/** All members, sorted by name. reconnect() can change them. */
	readonly members: readonly AgentCluster[];
	/** What each member reported about itself, by cluster id. */
	readonly descriptions: ReadonlyMap<string, AgentDescription>;
	/** Why contexts or members gave no answer or refused. Filled only if a missing answer does not refuse the run. */
	readonly problems: readonly string[];
	/**
	 * The member that a context leads to. Undefined if the run reached no agents through this context, or if its cluster is no longer a
	 * member.
	 */
	memberOf(contextName: string): AgentCluster | undefined;
	/** The name of the context through which the run reached a member's own agents. Undefined if there is none. */
	contextOf(memberId: string): string | undefined;
	/** The namespaces that may contain the agents of a context's cluster. Empty if the run reached no agents through this context. */
	agentNamespaces(contextName: string): readonly string[];
	/** Returns the budgets of these namespaces in all members. Rejects if one member does not answer. */
	listBudgets(namespaces: readonly string[]): Promise<readonly BudgetsOfMember[]>;
	/** The lists that were read while the members were contacted. Undefined if none were requested, or if one failed. */
	readonly listedAhead?: ListedBudgets | undefined;
	/**
	 * Asks the agents of all contexts again which members there are, and continues with those. Rejects if a member does not answer or
	 * refuses, or with a FleetUncoveredError if members disagree. A rejection changes nothing.
	 */
	reconnect(): Promise<void>;
	/** Avoids this agent's pod, because it is about to be evicted. */
	leave(contextName: string, podUid: string): void;
	close(): void;
}

export interface ContextAnchor {
	readonly context: KubeContext;
	readonly anchor: Anchor;
}

export interface FleetConnection {
	/** Undefined if no cluster has agents or the kind XPodDisruptionBudget. */
	readonly fleet: Fleet | undefined;
	/** Contexts whose clusters have neither. They are treated as by kubectl. */
	readonly uncovered: readonly KubeContext[];
	/** Contexts whose API servers do not answer, and that `mayLose` allowed the run to leave out. */
	readonly lost?: readonly { readonly context: KubeContext; readonly problem: string }[];
}

/** Connects as connectFleet() does (connect-fleet.ts), with requests that are already under way. */
export async function connectByAnchors(
	anchors: readonly ContextAnchor[],
	options: ConnectOptions,
): Promise<FleetConnection> {
	// With one context, its agent also asks the other members. With several, it is not known yet which member each context leads to.
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
		if (failed.length > 0 && (options.mayMiss !== true || reached.length === 0)) {
			throw new FleetUncoveredError("cannot reach every cluster of the fleet, nothing was touched", failed);
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

/** `failed` has one line for each context that failed and may not be left out. */
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
	 * Whether the run may start without a context whose API server does not answer, because it evicts nothing in that cluster. The cluster
	 * is then asked through the other agents, and must answer like any other member.
	 */
	readonly mayLose?: (context: KubeContext) => boolean | Promise<boolean>;
	/** For commands that only show data: contexts that fail and members that do not answer may be missing. */
	readonly mayMiss?: boolean;
	/** Namespaces whose budgets are requested together with the members. Empty: all namespaces. Undefined: no budgets are requested. */
	readonly namespaces?: readonly string[] | undefined;
	/** The names of contexts and members whose answers are outstanding. */
	readonly silent?: Set<string>;
}

interface AssembleOptions extends ConnectOptions {
	/** Why some contexts lead to no member. */
	readonly missed?: readonly string[];
}

/**
 * Assembles the fleet, and repeats this for up to five seconds until the members agree. If they disagree, all answers of that attempt are
 * discarded.
 */
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

/** Rejects if an agent does not answer, or speaks for a cluster other than before. */
async function describeAnew(accesses: readonly AgentAccess[]): Promise<readonly AgentAccess[]> {
	return Promise.all(
		accesses.map(async (access) => {
			const meeting = await askAgent(access.client, access.context.name);
			if (meeting.description.clusterId !== access.description.clusterId) {
				throw new FleetUncoveredError("cannot continue with the fleet", [
					`${access.context.name}: its agent answers for another cluster than before`,
				]);
			}
			return { ...access, ...meeting };
		}),
	);
}

/** Throws as connectFleet() does, and then leaves `accesses` open. Otherwise close() of the returned fleet closes them. */
export async function assembleFleet(
	accesses: readonly AgentAccess[],
	{ mayMiss = false, namespaces, silent, missed = [] }: AssembleOptions,
): Promise<Fleet> {
	const described = accesses.map(({ context, description }) => ({ name: context.name, description }));
	refuseDifferentFleets(described);
	const wayless = membersWithoutWay(described);
	if (wayless.length > 0 && !mayMiss) {
		throw new FleetUncoveredError(
			"cannot reach every cluster of the fleet: no route leads to some members, nothing was touched",
			wayless,
		);
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
		throw new FleetUncoveredError(
			"cannot reach every cluster of the fleet: some members do not answer, nothing was touched",
			problems,
		);
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

interface Problem {
	readonly text: string;
	readonly error: Error;
}

/**
 * Contacts the members that the agents declare. Members in `known` are reused, and new clients are added to `opened`. `besides` runs at the
 * same time, and its failure is ignored.
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
			// The member's own agents come first. Any other agent forwards the call.
			const direct = accesses.filter(({ description }) => description.clusterId === id);
			const others = accesses.filter(({ description }) => description.clusterId !== id);
			const routes = [...direct, ...others].map(({ client, context, description }) => {
				const calls = new RemoteCluster({ id, name, client });
				opened.push(calls);
				const asked = first.description.members.find((member) => member.id === description.clusterId);
				return { calls, diagnose: diagnoseRoute({ context, cluster: asked?.name ?? context.name }) };
			});
			return createMemberClient({ id, name, routes, tries: describeTries });
		});
	// Members behind a context have just described themselves. With one context, its agent has already asked the other members.
	const said = new Map([...descriptionsById(accesses)].map(([id, { description }]) => [id, description]));
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

/** Asks the members without an answer in `said` to describe themselves. Members that do not answer or refuse become problems. */
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
			try {
				const known = said.get(member.id);
				descriptions.set(member.id, known ?? (await waitFor(member.name, () => member.describe(), silent)));
			} catch (error) {
				if (!(error instanceof Error) || !classifyFailure(error)) throw error;
				const place = placeOf(member.id);
				const see =
					error instanceof AgentUnavailableError && place.context !== ""
						? `; see ${diagnoseCommand(error.silent, place)}`
						: "";
				problems.push({ text: `${member.name}: ${error.message}${see}`, error });
			}
		}),
	);
	return { descriptions, problems: problems.toSorted((a, b) => (a.text < b.text ? -1 : 1)) };
}

/** While the answer is outstanding, `silent` has the name, for a caller that stops waiting early. */
async function waitFor<T>(name: string, ask: () => Promise<T>, silent: Set<string> | undefined): Promise<T> {
	silent?.add(name);
	try {
		return await ask();
	} finally {
		silent?.delete(name);
	}
}

/**
 * Refuses two contexts of one cluster. A cluster without agents is identified by the uid of its namespace kube-system, or by its address if
 * the uid cannot be read.
 */
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
			"the clusters do not declare one fleet: ConfigMap xpdb-fleet must list the same members in every cluster, nothing was touched",
			details,
		);
	}
}

class DifferentFleetsError extends FleetUncoveredError {}
