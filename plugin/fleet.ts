// The fleet that the contexts belong to: every member, also those that no context names. It is covered or refused.
import { AgentForbiddenError, AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import type { MemberBudget } from "../disruption/cluster.ts";
import { fleetHash } from "../disruption/fleet.ts";
import type { AgentCluster, AgentDescription } from "../proto/agent-cluster.ts";
import { RemoteCluster } from "../proto/remote-cluster.ts";
import { type AgentAccess, accessAgents } from "./agent-access.ts";
import { FleetUncoveredError, sameClusterError } from "./errors.ts";
import type { KubeContext } from "./kube-context.ts";
import { RoutedCluster } from "./routed-cluster.ts";

export interface Fleet {
	/** All members, sorted by name. */
	readonly members: readonly AgentCluster[];
	/** What each member said of itself, by cluster id. */
	readonly descriptions: ReadonlyMap<string, AgentDescription>;
	/** Why members gave no answer: only where that is no refusal. */
	readonly problems: readonly string[];
	/** The member that a context leads to; undefined for a cluster without agents. */
	memberOf(contextName: string): AgentCluster | undefined;
	/** The name of the context that leads to a member; undefined where none of this run's does. */
	contextOf(memberId: string): string | undefined;
	/** The budgets of these namespaces in all members, by consistent lists; one member without an answer fails it. */
	listBudgets(namespaces: readonly string[]): Promise<readonly MemberBudget[]>;
	/** This agent's pod is about to be evicted: use another one. */
	leave(contextName: string, podUid: string): void;
	close(): void;
}

export interface FleetConnection {
	/** Undefined where no cluster has agents or budgets of ours. */
	readonly fleet: Fleet | undefined;
	/** Contexts whose clusters have neither: kubectl's own behaviour. */
	readonly uncovered: readonly KubeContext[];
}

/**
 * Reaches the agents of every context and every member of their fleet. Throws FleetUncoveredError that names each one
 * missing, UsageError for two contexts of one cluster. `mayMiss`: for tables, which show what is there; members behind
 * no context may be missing then. What it returns must be closed.
 */
export async function connectFleet(
	contexts: readonly KubeContext[],
	{ mayMiss = false }: { readonly mayMiss?: boolean } = {},
): Promise<FleetConnection> {
	const results = await Promise.all(contexts.map(accessAgents));
	const reached = results.filter((result) => result.kind === "reached");
	const closeAll = (): void => {
		for (const access of reached) access.close();
	};
	try {
		const failed = results.filter((result) => result.kind === "failed");
		if (failed.length > 0) {
			throw new FleetUncoveredError(
				"Cannot cover the fleet: the agents of some clusters cannot be reached, nothing was touched",
				failed.map(({ context, problem }) => `${context.name}: ${problem}`),
			);
		}
		const uncovered = results.filter((result) => result.kind === "none").map(({ context }) => context);
		refuseSameCluster(reached);
		await refuseSameNamespace(uncovered);
		const fleet = reached.length > 0 ? await assemble(reached, mayMiss) : undefined;
		return { fleet, uncovered };
	} catch (error) {
		closeAll();
		throw error;
	}
}

async function assemble(accesses: readonly AgentAccess[], mayMiss: boolean): Promise<Fleet> {
	const [first] = accesses;
	if (!first) throw new Error("a fleet without an agent");
	refuseDifferentFleets(accesses.map(({ context, description }) => ({ name: context.name, description })));
	const clusters: RemoteCluster[] = [];
	const members = first.description.members
		.toSorted((a, b) => (a.name < b.name ? -1 : 1))
		.map(({ id, name }) => {
			// Its own agents first; any other agent passes the call on.
			const direct = accesses.filter(({ description }) => description.clusterId === id);
			const others = accesses.filter(({ description }) => description.clusterId !== id);
			const routes = [...direct, ...others].map(({ client }) => new RemoteCluster({ id, name, client }));
			clusters.push(...routes);
			return new RoutedCluster({ id, name, routes });
		});
	const { descriptions, problems } = await describeAll(members);
	if (problems.length > 0 && !mayMiss) {
		throw new FleetUncoveredError("Cannot cover the fleet: some members give no answer, nothing was touched", problems);
	}
	refuseDifferentFleets(
		members.flatMap(({ id, name }) => {
			const description = descriptions.get(id);
			return description ? [{ name, description }] : [];
		}),
	);
	const idOfContext = new Map(accesses.map(({ context, description }) => [context.name, description.clusterId]));
	return {
		members,
		descriptions,
		problems,
		contextOf: (memberId) => accesses.find(({ description }) => description.clusterId === memberId)?.context.name,
		memberOf: (contextName) => members.find(({ id }) => id === idOfContext.get(contextName)),
		async listBudgets(namespaces) {
			const lists = await Promise.all(members.map((member) => member.listBudgets(namespaces)));
			return lists.flatMap(({ budgets }) => budgets);
		},
		leave(contextName, podUid) {
			accesses.find(({ context }) => context.name === contextName)?.leave(podUid);
		},
		close() {
			for (const cluster of clusters) cluster.close();
			for (const access of accesses) access.close();
		},
	};
}

/** Every member has to answer; each has as many tries as there are ways to it. */
async function describeAll(members: readonly AgentCluster[]): Promise<Pick<Fleet, "descriptions" | "problems">> {
	const descriptions = new Map<string, AgentDescription>();
	const problems: string[] = [];
	await Promise.all(
		members.map(async (member) => {
			for (let attempt = 1; ; attempt += 1) {
				try {
					descriptions.set(member.id, await member.describe());
					return;
				} catch (error) {
					if (error instanceof AgentUnavailableError && attempt < 3) continue;
					const expected = [AgentUnavailableError, AgentForbiddenError, AgentProtocolError];
					if (!(error instanceof Error) || !expected.some((kind) => error instanceof kind)) throw error;
					problems.push(`${member.name}: ${error.message}`);
					return;
				}
			}
		}),
	);
	return { descriptions, problems: problems.toSorted() };
}

function refuseSameCluster(accesses: readonly AgentAccess[]): void {
	const seen = new Map<string, string>();
	for (const { context, description } of accesses) {
		const other = seen.get(description.clusterId);
		if (other !== undefined) throw sameClusterError(other, context.name, description.clusterId);
		seen.set(description.clusterId, context.name);
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
	const hashes = new Set(described.map(({ description }) => description.fleetHash));
	const strangers = described.filter(
		({ description: { clusterId, members } }) => !members.some(({ id }) => id === clusterId),
	);
	const details = [
		...strangers.map(
			({ name, description }) =>
				`${name}: its own id ${description.clusterId} is not among the members that it declares (${memberNames(description)})`,
		),
		...(hashes.size > 1
			? described.map(({ name, description }) => `${name}: declares the fleet ${memberNames(description)}`)
			: described
					.filter(({ description }) => fleetHash(description.members.map(({ id }) => id)) !== description.fleetHash)
					.map(({ name }) => `${name}: its agent's hash does not fit the members that it declares`)),
	];
	if (details.length > 0) {
		throw new FleetUncoveredError(
			"Cannot cover the fleet: ConfigMap xpdb-fleet must list the same members in every cluster, nothing was touched",
			details,
		);
	}
}

function memberNames({ members }: AgentDescription): string {
	return members.map(({ name }) => name).join(", ");
}
