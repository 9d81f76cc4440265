// Connects a context to its cluster's agents: CA and token from the API server, then gRPC through a port-forward.
import { tmpdir } from "node:os";
import { agentLabel, agentName, defaultFleetConfigMap } from "../../disruption/agent-names.ts";
import { budgetApi } from "../../disruption/budget/budget.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	GarbledLeaseError,
} from "../../disruption/errors.ts";
import { quote } from "../../disruption/quote.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import { agentServerName, createAgentClient, isConnected } from "../../proto/credentials.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import type { MeetingQuestion } from "../../proto/wire-description.ts";
import { ApiError, ConnectionError, errorText, isNotFound, kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { hangUp } from "../kubernetes/port-forward.ts";
import { StepError } from "./access-step.ts";
import { type Anchor, type ClusterIdentity, readAnchor, readIdentity } from "./anchor.ts";
import { AgentDialer, AgentNamespacesError, type AgentPod, findAgentPods } from "./agent-pods.ts";
import { connectAhead, type Login, logIn } from "./connect-ahead.ts";
import { createCallLog } from "./call-log.ts";
import { keepLastAgent } from "./last-agent.ts";
import { type Meeting, meet } from "./meeting.ts";
import { renewExpired, diagnoseCommand } from "./diagnose-command.ts";
import { createTunnel } from "./tunnel.ts";

/** Must be closed. */
export interface AgentAccess extends Meeting {
	readonly kind: "reached";
	readonly context: KubeContext;
	readonly client: AgentServiceClient;
	/** The anchor and the namespaces that its fleet names, which may contain this cluster's agents. */
	readonly namespaces: readonly string[];
	/** Avoids this agent's pod from now on. If the agent is in use, moves to another one. */
	leave(podUid: string): void;
	close(): void;
}

export type AgentAccessResult =
	| AgentAccess
	/** The cluster has neither agents nor the kind XPodDisruptionBudget and, as far as this user may read, is in no fleet. */
	| { readonly kind: "none"; readonly context: KubeContext }
	/** `problem`: one line that says what is missing and what to do. `isSilent`: the API server gave no answer. */
	| { readonly kind: "failed"; readonly context: KubeContext; readonly problem: string; readonly isSilent?: boolean };

interface AccessOptions {
	readonly anchor?: Anchor;
	readonly question?: MeetingQuestion;
}

/** Returns `failed` for every problem that a user can fix. Rejects only on other errors. */
export async function accessAgents(
	context: KubeContext,
	{ anchor = readAnchor(context), question = {} }: AccessOptions = {},
): Promise<AgentAccessResult> {
	const failed = (problem: string): AgentAccessResult => ({ kind: "failed", context, problem });
	const { client, name, agents } = context;
	const early = connectAhead(context, anchor);
	let dialer: AgentDialer | undefined;
	try {
		const [named, inAnchor] = await Promise.allSettled([anchor.places, anchor.pods]);
		if (inAnchor.status === "rejected") throw inAnchor.reason;
		const all = named.status === "fulfilled" ? named.value.namespaces : [];
		const others = all.filter((each) => each !== agents.namespace);
		const pods = others.length === 0 ? inAnchor.value : await findAgentPods(client, [agents.namespace, ...others]);
		const [pod] = pods;
		if (!pod) {
			if (!(await hasBudgetKind(context))) {
				return (await isMember(anchor)) ? failed(halfRemoved(context)) : { kind: "none", context };
			}
			if (named.status === "rejected" && !isForPeople(named.reason)) throw named.reason;
			const unread = named.status === "rejected" ? `; ${explain(named.reason)}` : "";
			return failed(
				`there are XPodDisruptionBudgets but no agent in namespace ${agents.namespace}: install the agent (pods labelled app.kubernetes.io/name=xpdb-agent), or name the agents' namespace with --agent-namespace${unread}`,
			);
		}
		const { namespaces } = await anchor.places;
		if (!pod.ready) {
			const look = context.suggest.kubectl(["describe", "pod", pod.name, "-n", pod.namespace], name);
			return failed(`no agent is ready: see ${look}`);
		}
		const begun = await early;
		dialer = new AgentDialer(client, namespaces, { pods, ahead: begun?.ahead });
		const access = await open(context, { anchor, dialer, question, login: begun?.login ?? logIn(context) });
		if (dialer.current) keepLastAgent(context, dialer.current);
		return access;
	} catch (error) {
		if (!isForPeople(error)) throw error;
		const problem = `${explain(error)}${seeMore(error, context)}`;
		return { kind: "failed", context, problem, isSilent: error instanceof ConnectionError };
	} finally {
		if (dialer) dialer.close();
		else void early.then((begun) => begun && hangUp(begun.ahead.connection));
	}
}

/** Connects to this agent only. `namespaces`: those that may contain the cluster's agents. */
export async function accessAgent(
	context: KubeContext,
	namespaces: readonly string[],
	pod: AgentPod,
): Promise<Exclude<AgentAccessResult, { readonly kind: "none" }>> {
	try {
		return await open(context, {
			anchor: readIdentity(context),
			dialer: new AgentDialer(context.client, namespaces, { pods: [pod], only: pod.uid }),
			question: {},
			login: logIn(context),
		});
	} catch (error) {
		if (isForPeople(error)) return { kind: "failed", context, problem: explain(error) };
		throw error;
	}
}

async function open(
	context: KubeContext,
	{
		anchor,
		dialer,
		question,
		login: { token, first },
	}: {
		readonly anchor: ClusterIdentity;
		readonly dialer: AgentDialer;
		readonly question: MeetingQuestion;
		readonly login: Login;
	},
): Promise<AgentAccess> {
	const [ca, clusterId] = await Promise.all([anchor.ca, anchor.clusterId]);
	let client: AgentServiceClient | undefined;
	const isUp = (): boolean => client !== undefined && isConnected(client);
	const tunnel = await createTunnel((socket) => dialer.connect(socket, isUp)).catch((error: unknown) => {
		const hint = "set TMPDIR to a folder that you can write to";
		throw new StepError(`cannot make a socket in the folder ${tmpdir()}: ${errorText(error)} (${hint})`, {
			cause: error,
		});
	});
	try {
		client = createAgentClient({
			address: tunnel.address,
			serverName: agentServerName(context.agents.namespace),
			ca,
			identity: { kind: "token", token },
			observer: context.log && createCallLog(context.log, context.name),
		});
		// Connects while the token is being issued, because the time limit of a call starts with the call.
		client.getChannel().getConnectivityState(true);
		await first;
		const meeting = await meet(client, { name: context.name, dialer, question });
		requireOwnCluster(meeting.description, clusterId, context);
		const opened = client;
		return {
			kind: "reached",
			context,
			...meeting,
			client: opened,
			namespaces: dialer.namespaces,
			leave(podUid) {
				dialer.leave(podUid);
				if (dialer.current?.uid === podUid) tunnel.disconnect();
			},
			close() {
				opened.close();
				tunnel.close();
			},
		};
	} catch (error) {
		client?.close();
		tunnel.close();
		throw error;
	}
}

/** Throws StepError if the agent speaks for a cluster other than the one whose API server led to it. */
export function requireOwnCluster(
	description: Pick<AgentDescription, "clusterId">,
	clusterId: string,
	{ name, agents, suggest }: Pick<KubeContext, "name" | "agents" | "suggest">,
): void {
	if (description.clusterId === clusterId) return;
	const ofAgents = ["-n", agents.namespace, "-l", `${agentLabel}=${agentName}`];
	const look = suggest.kubectl(["get", "pods", ...ofAgents, "-o", "wide"], name);
	throw new StepError(
		`its agent claims to be cluster ${quote(description.clusterId)}, but the UID of namespace kube-system is "${clusterId}": refusing to use it; check the pods with ${look}`,
	);
}

/**
 * Whether the cluster has ConfigMap xpdb-fleet. A user who may not read it (403) gets the answer for a missing one, because most clusters
 * outside a fleet forbid that read. Rejects if reading fails for another reason.
 */
async function isMember({ places }: Pick<Anchor, "places">): Promise<boolean> {
	try {
		return (await places).isMember;
	} catch (error) {
		if (error instanceof ApiError && error.code === 403) return false;
		throw error;
	}
}

function halfRemoved({ agents: { namespace }, suggest, name }: KubeContext): string {
	const remove = suggest.kubectl(["delete", "configmap", defaultFleetConfigMap, "-n", namespace], name);
	return (
		`ConfigMap ${namespace}/${defaultFleetConfigMap} makes this cluster a member of a fleet, but it has neither agents nor the kind ` +
		`XPodDisruptionBudget: install xpdb there again or, if the cluster has left the fleet for good, delete the ConfigMap: ${remove}`
	);
}

async function hasBudgetKind({ client }: KubeContext): Promise<boolean> {
	try {
		const list = await client.get<{ readonly resources?: readonly { readonly name: string }[] }>(
			`/apis/${budgetApi.group}/${budgetApi.version}`,
		);
		return list.resources?.some(({ name }) => name === budgetApi.resource) ?? true;
	} catch (error) {
		if (isNotFound(error)) return false;
		throw error;
	}
}

function isForPeople(error: unknown): boolean {
	return [
		StepError,
		AgentNamespacesError,
		ApiError,
		ConnectionError,
		AgentUnavailableError,
		AgentForbiddenError,
		AgentProtocolError,
		GarbledLeaseError,
	].some((kind) => error instanceof kind);
}

function explain(error: unknown): string {
	if (error instanceof ApiError || error instanceof ConnectionError) return kubectlErrorLine(error);
	if (error instanceof AgentForbiddenError) return `the agent refuses us: ${error.message}`;
	return errorText(error);
}

function seeMore(error: unknown, { name, suggest }: KubeContext): string {
	if (error instanceof ApiError && error.code === 403) {
		return ` (an administrator gives you what is missing: '${suggest.xpdb(["check"], name)}' has the commands)`;
	}
	const place = { context: name, suggest };
	if (error instanceof ConnectionError) return `; see ${diagnoseCommand("apiServer", place)}`;
	if (!(error instanceof AgentUnavailableError)) return "";
	const renewal = renewExpired(error.message, suggest);
	return renewal === undefined ? `; see ${diagnoseCommand(error.silent, place)}` : `; renew it: ${renewal}`;
}
