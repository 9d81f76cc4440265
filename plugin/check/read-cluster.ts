// Reads the facts about one cluster from its API server. If the server does not report its version, nothing else is asked. Otherwise each
// fact is read independently, so that one missing answer hides no other.
import type { V1Pod } from "@kubernetes/client-node";
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import { budgetApi } from "../../disruption/budget/budget.ts";
import { isDomainError } from "../../disruption/errors.ts";
import { isRecord } from "../../disruption/record.ts";
import { StepError } from "../fleet/access-step.ts";
import { AgentNamespacesError, type AgentPod, findAgentNamespaces, findAgentPods } from "../fleet/agent-pods.ts";
import { ApiError, ConnectionError, errorText, isNotFound, SilentServerError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type FoundPeers, readPeers } from "../install/expose/read-peers.ts";
import type { Reading } from "./check-report.ts";
import { type ClockReading, clockReading } from "./clock-reading.ts";
import { readKeyReaders } from "./read-key-readers.ts";
import type { Right } from "./needed-rights.ts";
import { type MemoryEnd, readMemoryEnds } from "./read-memory-ends.ts";
import { type PolicyObjects, readPolicies } from "./read-policies.ts";

/** A healthy API server answers in milliseconds. A user should not wait a minute to learn that one is silent. */
const signOfLifeMs = 10_000;

export interface ClusterFacts {
	readonly name: string;
	/** For example "v1.36.4". */
	readonly version: Promise<Reading<string>>;
	/** The UID of namespace kube-system. */
	readonly id: Promise<Reading<string>>;
	/** Undefined if the API server does not serve XPodDisruptionBudget. */
	readonly budgetKind: Promise<Reading<BudgetKind | undefined>>;
	readonly clock: Promise<Reading<ClockReading>>;
	/** The agents' namespace; undefined if there is none. */
	readonly anchor: Promise<Reading<AnchorNamespace | undefined>>;
	readonly rights: (right: Right) => Promise<Reading<boolean>>;
	/** The user's name, as the API server reports it. "" if it does not. */
	readonly user: Promise<Reading<string>>;
	readonly agents: Promise<Reading<AgentsOfCluster>>;
	/** The agents that ended lately because they had too little memory. */
	readonly memoryEnds: Promise<Reading<readonly MemoryEnd[]>>;
	/** Pods with the agents' label in any namespace. */
	readonly labelled: Promise<Reading<readonly LabelledPod[]>>;
	readonly policies: Promise<PolicyObjects>;
	/** The ServiceAccounts that can read the CA's key; undefined if this cluster does not keep the key. */
	readonly keyReaders: Promise<Reading<readonly string[] | undefined>>;
	/** The Service through which agents of other members connect; undefined if no installation has made one. */
	readonly peers: Promise<Reading<FoundPeers | undefined>>;
}

export interface AgentsOfCluster {
	readonly namespaces: readonly string[];
	/** Ready pods first. */
	readonly pods: readonly AgentPod[];
}

export interface AnchorNamespace {
	readonly isEnding: boolean;
}

export interface LabelledPod {
	readonly namespace: string;
	readonly name: string;
}

export interface BudgetKind {
	/** The names of the fields of `spec` that the API server keeps; undefined if it publishes no schema. */
	readonly fields: ReadonlySet<string> | undefined;
}

export function readCluster(context: KubeContext): ClusterFacts {
	const { client, agents } = context;
	const version = read(readVersion(context));
	/** Asks a silent API server nothing else, because each request would take as long to fail. */
	const ask = async <T>(question: () => Promise<T>): Promise<Reading<T>> =>
		(await version).kind === "unread" ? { kind: "unread", why: "its API server gives no answer" } : read(question());
	const asked = new Map<string, Promise<Reading<boolean>>>();
	return {
		name: context.name,
		version,
		id: ask(async () => {
			const { metadata } = await client.get<{ readonly metadata?: { readonly uid?: string } }>(
				"/api/v1/namespaces/kube-system",
			);
			return metadata?.uid ?? "";
		}),
		budgetKind: ask(() => readBudgetKind(context)),
		clock: ask(() => readClock(context)),
		anchor: ask(() => readAnchor(context)),
		rights(right) {
			const key = JSON.stringify(right);
			const answer = asked.get(key) ?? ask(() => mayAccess(context, right));
			asked.set(key, answer);
			return answer;
		},
		user: ask(() => readUser(context)),
		agents: ask(async () => {
			const namespaces = await findAgentNamespaces(client, agents.namespace);
			return { namespaces, pods: await findAgentPods(client, namespaces) };
		}),
		memoryEnds: ask(async () =>
			readMemoryEnds(client, await findAgentNamespaces(client, agents.namespace), Date.now()),
		),
		labelled: ask(async () => {
			const pods = await client.list<V1Pod>("/api/v1/pods", { labelSelector: `${agentLabel}=${agentName}` });
			return pods.map(({ metadata }) => ({ namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" }));
		}),
		policies: readPolicies(context, ask),
		keyReaders: ask(() => readKeyReaders(context)),
		peers: ask(() => readPeers(context)),
	};
}

/** Returns an error that a person can fix as `unread`. Rethrows any other error, which is a bug. */
export async function read<T>(answer: Promise<T>): Promise<Reading<T>> {
	try {
		return { kind: "read", value: await answer };
	} catch (error) {
		const known = [ApiError, ConnectionError, StepError, AgentNamespacesError];
		if (!known.some((kind) => error instanceof kind) && !isDomainError(error)) throw error;
		return { kind: "unread", why: errorText(error) };
	}
}

async function readVersion({ client }: KubeContext): Promise<string> {
	const signal = AbortSignal.timeout(signOfLifeMs);
	try {
		const { gitVersion } = await client.get<{ readonly gitVersion?: unknown }>("/version", { signal, retry: false });
		return typeof gitVersion === "string" ? gitVersion : "";
	} catch (error) {
		if (!signal.aborted) throw error;
		throw new ConnectionError(client.server, new SilentServerError(`no answer within ${signOfLifeMs / 1_000} s`));
	}
}

/** Reads the clock from a response header, which has whole seconds, so the fraction of the second is unknown. */
async function readClock({ client }: KubeContext): Promise<ClockReading> {
	const askedAt = Date.now();
	const response = await client.stream("/version", { accept: "application/json", withinMs: signOfLifeMs });
	response.destroy();
	const date = Date.parse(response.headers.date ?? "");
	if (Number.isNaN(date)) throw new ConnectionError(client.server, new Error("its answers have no date"));
	return clockReading(date, { askedAt, answeredAt: Date.now(), coarseMs: 1_000 });
}

async function readAnchor({ client, agents }: KubeContext): Promise<AnchorNamespace | undefined> {
	try {
		const found = await client.get<object>(`/api/v1/namespaces/${agents.namespace}`);
		return { isEnding: at(found, "metadata", "deletionTimestamp") !== undefined };
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
}

/**
 * Reads the kind from discovery and from the OpenAPI document. Every authenticated user may read these, without a right to
 * CustomResourceDefinitions.
 */
async function readBudgetKind({ client }: KubeContext): Promise<BudgetKind | undefined> {
	const path = `apis/${budgetApi.group}/${budgetApi.version}`;
	try {
		const { resources } = await client.get<{ readonly resources?: readonly { readonly name?: string }[] }>(`/${path}`);
		if (resources?.some(({ name }) => name === budgetApi.resource) !== true) return undefined;
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
	const document = await read(client.get<object>(`/openapi/v3/${path}`));
	return { fields: document.kind === "read" ? specFields(document.value) : undefined };
}

function specFields(document: unknown): ReadonlySet<string> | undefined {
	const schemas = at(document, "components", "schemas");
	if (!isRecord(schemas)) return undefined;
	const schema = Object.values(schemas).find((each) => isKind(at(each, "x-kubernetes-group-version-kind")));
	const fields = at(schema, "properties", "spec", "properties");
	return isRecord(fields) ? new Set(Object.keys(fields)) : undefined;
}

function isKind(kinds: unknown): boolean {
	return Array.isArray(kinds) && kinds.some((each) => isRecord(each) && each["kind"] === "XPodDisruptionBudget");
}

function at(value: unknown, ...keys: readonly string[]): unknown {
	return keys.reduce<unknown>((inside, key) => (isRecord(inside) ? inside[key] : undefined), value);
}

async function mayAccess({ client }: KubeContext, right: Right): Promise<boolean> {
	const { status } = await client.post<{ readonly status?: { readonly allowed?: unknown } }>(
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		{
			apiVersion: "authorization.k8s.io/v1",
			kind: "SelfSubjectAccessReview",
			spec: { resourceAttributes: right },
		},
	);
	return status?.allowed === true;
}

async function readUser({ client }: KubeContext): Promise<string> {
	const answer = await client.post<object>("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
		apiVersion: "authentication.k8s.io/v1",
		kind: "SelfSubjectReview",
	});
	const name = at(answer, "status", "userInfo", "username");
	return typeof name === "string" ? name : "";
}
