// Reads the Leases of a context's cluster from its agents. Each context is read separately, so that one failure does not hide the other
// contexts.
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	FleetsDifferError,
} from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { createMemberClient } from "../../proto/member-client.ts";
import type { BudgetScope, ListedLease } from "../../proto/listed-lease.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import { isUnimplemented } from "../../proto/status.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { accessAgents } from "./agent-access.ts";

export type LeaseSource =
	| {
			readonly kind: "reached";
			readonly context: string;
			/** The cluster's name in the fleet. */
			readonly cluster: string;
			readonly clusterId: string;
			readonly member: AgentCluster;
			close(): void;
	  }
	| { readonly kind: "none"; readonly context: string }
	| { readonly kind: "failed"; readonly context: string; readonly problem: string };

/** A result of kind "reached" must be closed. */
export async function openLeaseSource(context: KubeContext): Promise<LeaseSource> {
	const access = await accessAgents(context);
	const { name } = context;
	if (access.kind === "none") return { kind: "none", context: name };
	if (access.kind === "failed") return { kind: "failed", context: name, problem: access.problem };
	const { clusterId, clusterName } = access.description;
	const remote = new RemoteCluster({ id: clusterId, name: clusterName || name, client: access.client });
	return {
		kind: "reached",
		context: name,
		cluster: clusterName || name,
		clusterId,
		member: createMemberClient({ id: remote.id, name: remote.name, routes: [{ calls: remote }] }),
		close() {
			remote.close();
			access.close();
		},
	};
}

export type LeasesOfContext =
	| {
			readonly kind: "listed";
			readonly context: string;
			readonly cluster: string;
			readonly leases: readonly ListedLease[];
			/** When the agents answered, in milliseconds since the epoch. */
			readonly at: number;
	  }
	| { readonly kind: "none"; readonly context: string }
	/** `unreachable`: the agents could not be asked, or gave no answer. */
	| { readonly kind: "failed"; readonly context: string; readonly problem: string; readonly unreachable: boolean };

/** Returns `failed` for every problem that a user can fix. Rejects only on other errors. */
export async function readLeases(
	source: LeaseSource,
	scopes: readonly BudgetScope[],
	now: () => number,
): Promise<LeasesOfContext> {
	if (source.kind === "none") return source;
	if (source.kind === "failed") return { ...source, unreachable: true };
	const { context, cluster, member } = source;
	try {
		const leases = await member.listLeases(scopes);
		return { kind: "listed", context, cluster, leases: leases.toSorted(byBudget), at: now() };
	} catch (error) {
		return { kind: "failed", context, ...agentProblem(error) };
	}
}

/** Rethrows any error that is not an agent's refusal or silence. */
export function agentProblem(error: unknown): { readonly problem: string; readonly unreachable: boolean } {
	if (isUnimplemented(error)) {
		const problem = "its agent is of an earlier version, which does not know this question: update it";
		return { problem, unreachable: false };
	}
	if (error instanceof AgentUnavailableError) return { problem: errorText(error), unreachable: true };
	const expected = [AgentForbiddenError, AgentProtocolError, FleetsDifferError];
	if (!expected.some((kind) => error instanceof kind)) throw error;
	return { problem: errorText(error), unreachable: false };
}

function byBudget(a: ListedLease, b: ListedLease): number {
	return keyOf(a) < keyOf(b) ? -1 : 1;
}

/** Leases that do not name their budget come last. */
function keyOf({ budget, name }: ListedLease): string {
	return budget ? `${budget.namespace}/${budget.name} ${name}` : `~ ${name}`;
}
