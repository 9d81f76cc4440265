// Decides who may call on which port, and which cluster answers. A call on the token port may be forwarded to another member. A call on the
// peer port comes from another agent and is never forwarded to another cluster, so calls do not go in circles.
import type { Metadata, ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	CommitOutcome,
	Grant,
} from "../../disruption/budget/cluster.ts";
import { AgentForbiddenError, AgentProtocolError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { forwardingCluster } from "../../proto/forwarding-cluster.ts";
import { AgentServiceService } from "../../proto/gen/xpdb/v1/agent.ts";
import type { BudgetScope, ListedLease } from "../../proto/listed-lease.ts";
import { findPassedOnCaller, type PassedOnCaller } from "../../proto/passed-on.ts";
import { passedOnKey } from "../../proto/remote-cluster.ts";
import { statusOfError, unauthenticatedStatus } from "../../proto/status.ts";
import { type Admission, type Caller, verifiedCaller } from "../peers/caller.ts";
import type { RouteOptions } from "../peers/peers.ts";
import type { BudgetVerb, Identity } from "./identity.ts";
import type { PeerIdentity } from "./peer-identity.ts";
import type { Rights } from "./rights.ts";

/** `acquireHere` and `listLeasesHere` do not ask the agent that keeps the line. */
export interface ServedCluster extends AgentCluster {
	/** `onBehalfOf`: the caller for whom the call is made, for logs and for lists of Leases. */
	acquire(request: AcquireRequest, options: AcquireOptions, onBehalfOf?: PassedOnCaller): Promise<AcquireOutcome>;
	commit(acquisition: Acquisition, grants: readonly Grant[], onBehalfOf?: PassedOnCaller): Promise<CommitOutcome>;
	acquireHere(request: AcquireRequest, options: AcquireOptions, onBehalfOf?: PassedOnCaller): Promise<AcquireOutcome>;
	listLeasesHere(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]>;
}

export type IncomingCall = Pick<
	ServerUnaryCall<unknown, unknown>,
	"metadata" | "getAuthContext" | "getPath" | "getPeer"
>;

const notOfThisPort = "cannot serve a peer on the port for callers with a token";

export interface Gate {
	readonly port: "token" | "peer";
	admit(call: IncomingCall): Promise<Admission>;
	/**
	 * Checks whether the caller has the verb on the budget, on all budgets of a namespace, or on all budgets (namespace ""). Returns
	 * undefined if it has.
	 */
	authorize(caller: Caller, budget: BudgetScope, verb?: BudgetVerb): Promise<Partial<StatusObject> | undefined>;
	/**
	 * Returns the cluster that answers for this id ("" is this cluster). Rejects with AgentProtocolError if this port serves no cluster
	 * with that id.
	 */
	route(clusterId: string, metadata: Metadata, caller: Caller, options?: RouteOptions): Promise<AgentCluster>;
	/**
	 * Returns the other members; none on the peer port. Rejects if the fleet cannot be read. A member's promise rejects if there is no
	 * route to the member.
	 */
	others(caller: Caller): Promise<readonly Promise<AgentCluster>[]>;
}

export function createTokenGate(options: {
	readonly identity: Pick<Identity, "check">;
	readonly rights: Pick<Rights, "refusal">;
	readonly local: ServedCluster;
	readonly member: (clusterId: string, caller: Caller, options: RouteOptions) => Promise<AgentCluster>;
	readonly others: (caller: Caller) => Promise<readonly Promise<AgentCluster>[]>;
}): Gate {
	const { identity, rights, local, member, others } = options;
	return {
		port: "token",
		async admit(call) {
			// ADDRESS:PORT, with no brackets around an IPv6 address.
			const address = call.getPeer().replace(/:[0-9]*$/, "");
			const verdict = await identity.check(call.metadata.get("authorization"), address);
			return verdict.kind === "authenticated"
				? { kind: "admitted", caller: verdict.caller }
				: { kind: "refused", status: unauthenticatedStatus(verdict.reason) };
		},
		async authorize(caller, budget, verb) {
			const refusal = caller.kind === "token" ? await rights.refusal(caller, budget, verb) : notOfThisPort;
			return refusal === undefined ? undefined : statusOfError(new AgentForbiddenError(refusal));
		},
		route: async (clusterId, _metadata, caller, options = {}) =>
			clusterId === "" || clusterId === local.id ? forCaller(local, caller) : member(clusterId, caller, options),
		others,
	};
}

/** The member list is read again for these calls. Other calls only continue, check, end or report what was started. */
const decisiveCalls: ReadonlySet<string> = new Set(
	[AgentServiceService.acquire, AgentServiceService.count, AgentServiceService.commit].map(({ path }) => path),
);

export function createPeerGate({
	local,
	identity,
}: {
	readonly local: ServedCluster;
	readonly identity: Pick<PeerIdentity, "certified" | "check">;
}): Gate {
	const hereFor = (caller: Caller): AgentCluster =>
		forwardingCluster(local, {
			acquire: (request, options) => local.acquireHere(request, options, verifiedCaller(caller)),
			listLeases: (scopes) => local.listLeasesHere(scopes),
		});
	return {
		port: "peer",
		async admit(call) {
			const anew = decisiveCalls.has(call.getPath());
			const renews = call.getPath() === AgentServiceService.renew.path;
			const certificate = call.getAuthContext().sslPeerCertificate;
			// A cluster that greets need not be a member.
			const greets = call.getPath() === AgentServiceService.greet.path;
			const verdict = greets ? identity.certified(certificate) : await identity.check(certificate, { anew, renews });
			switch (verdict.kind) {
				case "member": {
					// A cluster that greets is not trusted to name a user.
					const onBehalfOf = greets ? undefined : findPassedOnCaller(call.metadata);
					return {
						kind: "admitted",
						caller: { kind: "peer", member: verdict.clusterId, ...(onBehalfOf && { onBehalfOf }) },
					};
				}
				case "unauthenticated":
					return { kind: "refused", status: unauthenticatedStatus(verdict.reason) };
				case "forbidden":
					return { kind: "refused", status: statusOfError(new AgentForbiddenError(verdict.reason)) };
			}
		},
		// A member authorises a user's call before it forwards the call.
		authorize: async () => undefined,
		async route(clusterId, metadata, caller) {
			if (clusterId !== "" && clusterId !== local.id) {
				throw new AgentProtocolError(
					`cannot pass a call on a second time: cluster "${local.name}" has id "${local.id}", asked for is "${clusterId}"`,
				);
			}
			return metadata.get(passedOnKey).includes("line") ? hereFor(caller) : forCaller(local, caller);
		},
		others: async () => [],
	};
}

function forCaller(local: ServedCluster, caller: Caller): AgentCluster {
	return forwardingCluster(local, {
		acquire: (request, options) => local.acquire(request, options, verifiedCaller(caller)),
		commit: (acquisition, grants) => local.commit(acquisition, grants, verifiedCaller(caller)),
	});
}
