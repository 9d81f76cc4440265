// The way from a context to its cluster's agents: CA and token from the API server, then gRPC through a port-forward.
import { BoundedError } from "../disruption/bounded-error.ts";
import { tmpdir } from "node:os";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	GarbledLeaseError,
} from "../disruption/errors.ts";
import type { AgentDescription } from "../proto/agent-cluster.ts";
import { agentServerName, createAgentClient, createTokenSource, type IssuedToken } from "../proto/credentials.ts";
import type { AgentServiceClient } from "../proto/gen/xpdb/v1/agent.ts";
import { describeAgent } from "../proto/remote-cluster.ts";
import { AgentDialer, type AgentPod, findAgentPods } from "./agent-pods.ts";
import { ApiError, ConnectionError, errorText, isNotFound, kubectlErrorLine } from "./api-error.ts";
import type { KubeContext } from "./kube-context.ts";
import { createTunnel } from "./tunnel.ts";

const audience = "xpdb-agent";
const operatorAccount = "xpdb-operator";
const caConfigMap = "xpdb-ca";
const caKey = "ca.crt";
/** The shortest that the API server gives; it is renewed while the run goes on. */
const tokenLifetimeSeconds = 600;
/** One connection more than a moved agent needs: the first call after a broken tunnel fails. */
const describeAttempts = 3;

/** The agents of a context's cluster, reached; must be closed. */
export interface AgentAccess {
	readonly kind: "reached";
	readonly context: KubeContext;
	readonly description: AgentDescription;
	readonly client: AgentServiceClient;
	/** Moves to another agent if this pod is the one in use. */
	leave(podUid: string): void;
	close(): void;
}

export type AgentAccessResult =
	| AgentAccess
	/** Neither agents nor the kind XPodDisruptionBudget: this cluster has nothing to do with us. */
	| { readonly kind: "none"; readonly context: KubeContext }
	/** What is missing, and what to do: one line. */
	| { readonly kind: "failed"; readonly context: KubeContext; readonly problem: string };

/** Never rejects for what a person can put right: that is a `failed`. */
export async function accessAgents(context: KubeContext): Promise<AgentAccessResult> {
	const failed = (problem: string): AgentAccessResult => ({ kind: "failed", context, problem });
	try {
		const pods = await findAgentPods(context.client);
		const [pod] = pods;
		if (!pod) {
			return (await hasBudgetKind(context))
				? failed(
						"there are XPodDisruptionBudgets but no agent: install the agent (pods labelled app.kubernetes.io/name=xpdb-agent)",
					)
				: { kind: "none", context };
		}
		if (!pod.ready) {
			return failed(
				`no agent is ready: see kubectl --context ${context.name} -n ${pod.namespace} describe pod ${pod.name}`,
			);
		}
		return await open(context, pod);
	} catch (error) {
		if (isForPeople(error)) return failed(explain(error));
		throw error;
	}
}

async function open(context: KubeContext, pod: AgentPod): Promise<AgentAccessResult> {
	const ca = await readCa(context, pod.namespace);
	const token = createTokenSource(() => issueToken(context, pod.namespace));
	await token();
	const dialer = new AgentDialer(context.client);
	const tunnel = await createTunnel((socket) => dialer.connect(socket)).catch((error: unknown) => {
		const hint = "set TMPDIR to a folder that you can write to";
		throw new StepError(`cannot make a socket in the folder ${tmpdir()}: ${errorText(error)} (${hint})`, {
			cause: error,
		});
	});
	let client: AgentServiceClient | undefined;
	try {
		client = createAgentClient({
			address: tunnel.address,
			serverName: agentServerName(pod.leaseNamespace),
			ca,
			identity: { kind: "token", token },
		});
		const description = await describe(client, context.name, dialer);
		const opened = client;
		return {
			kind: "reached",
			context,
			description,
			client: opened,
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

async function describe(client: AgentServiceClient, name: string, dialer: AgentDialer): Promise<AgentDescription> {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await describeAgent(client, { name });
		} catch (error) {
			if (!(error instanceof AgentUnavailableError)) throw error;
			if (attempt < describeAttempts) continue;
			const why = dialer.problem ?? error.message;
			throw new AgentUnavailableError(`the agent gave no answer: ${why}`, name, { cause: error });
		}
	}
}

async function readCa(context: KubeContext, namespace: string): Promise<string> {
	const map = await step(
		`read the agents' CA from ConfigMap ${namespace}/${caConfigMap}`,
		context.client.get<{ readonly data?: Readonly<Record<string, string>> }>(
			`/api/v1/namespaces/${namespace}/configmaps/${caConfigMap}`,
		),
	);
	const ca = map.data?.[caKey] ?? "";
	if (ca === "") throw new StepError(`ConfigMap ${namespace}/${caConfigMap} has no ${caKey}: fill in the fleet's CA`);
	return ca;
}

async function issueToken(context: KubeContext, namespace: string): Promise<IssuedToken> {
	const answer = await step(
		`ask for a token of ServiceAccount ${namespace}/${operatorAccount}`,
		context.client.post<{ readonly status?: { readonly token?: string; readonly expirationTimestamp?: string } }>(
			`/api/v1/namespaces/${namespace}/serviceaccounts/${operatorAccount}/token`,
			{
				apiVersion: "authentication.k8s.io/v1",
				kind: "TokenRequest",
				spec: { audiences: [audience], expirationSeconds: tokenLifetimeSeconds },
			},
		),
	);
	const token = answer.status?.token;
	if (typeof token !== "string" || token === "") throw new StepError("the API server issued an empty token");
	return { token, lifetimeMs: tokenLifetimeSeconds * 1_000 };
}

async function hasBudgetKind({ client }: KubeContext): Promise<boolean> {
	try {
		const list = await client.get<{ readonly resources?: readonly { readonly name: string }[] }>(
			"/apis/x-pdb.form3.tech/v1alpha1",
		);
		return list.resources?.some(({ name }) => name === "xpoddisruptionbudgets") ?? true;
	} catch (error) {
		if (isNotFound(error)) return false;
		throw error;
	}
}

/** A step on the way that somebody has to repair. */
class StepError extends BoundedError {
	override readonly name = "StepError";
}

async function step<T>(action: string, answer: Promise<T>): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (error instanceof ApiError) {
			const hint = error.code === 403 ? " (bind your user to the roles xpdb-operators of the agent's manifests)" : "";
			throw new StepError(`cannot ${action}: ${error.message}${hint}`, { cause: error });
		}
		throw error;
	}
}

function isForPeople(error: unknown): boolean {
	return [
		StepError,
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
