// Limits what an agent accepts from a caller: names that Kubernetes would accept, and no more of them than a Lease can hold. An invalid
// name would corrupt the budget's Lease for all callers. Each refusal is an AgentProtocolError that names the field.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { AcquireRequest, Acquisition, Grant, PodReference } from "../../disruption/budget/cluster.ts";
import { AgentProtocolError } from "../../disruption/errors.ts";
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import type { BudgetScope } from "../../proto/listed-lease.ts";

/** A node has 110 pods by default and 500 at most. A Lease holds 1,500 reservations. */
export const maxItems = 1_000;

/** Ids, nonces and the uids of objects are UUIDs (36 characters), and a leaseFingerprint has 43. The rest is room for other generators. */
const maxIdLength = 64;
const maxHolderLength = 253;

/** DNS-1123, as the API server requires for the names of namespaces, budgets and pods. */
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const groupVersion = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[a-z0-9]+$/;

export function assertBudget({ namespace, name }: BudgetName): void {
	if (!label.test(namespace)) throw refused("budget.namespace", "is not the name of a namespace", namespace);
	assertName(name, "budget.name");
}

export function assertAcquisition(acquisition: Acquisition): void {
	assertBudget(acquisition.budget);
	assertId(acquisition.leaseUid, "acquisition.lease_uid");
	assertId(acquisition.nonce, "acquisition.nonce");
	const { countId, unwritten } = acquisition;
	if (countId !== undefined) assertId(countId, "acquisition.count_id");
	if (!unwritten) return;
	assertId(unwritten.lease, "acquisition.unwritten.lease");
	assertHolder(unwritten.holder, "acquisition.unwritten.holder");
}

export function assertQuestion({ budget, candidates }: Pick<AcquireRequest, "budget" | "candidates">): void {
	assertBudget(budget);
	assertSize(candidates, "candidates");
	for (const pod of candidates) assertPod(pod, budget, "candidates");
}

export function assertAcquire(request: AcquireRequest): void {
	assertQuestion(request);
	assertId(request.nonce, "nonce");
	assertHolder(request.holder, "holder");
}

export function assertGrants({ budget }: Acquisition, grants: readonly Grant[]): void {
	assertSize(grants, "grants");
	for (const { id, pod, controller } of grants) {
		assertId(id, "grants.id");
		assertPod(pod, budget, "grants");
		if (controller) assertController(controller);
	}
	// A reservation is found by its id and counted by its pod.
	if (new Set(grants.map(({ id }) => id)).size < grants.length) throw refused("grants.id", "is there twice");
	if (new Set(grants.map(({ pod }) => pod.uid)).size < grants.length) throw refused("grants.pod", "is there twice");
}

export function assertIds(ids: readonly string[]): void {
	assertSize(ids, "ids");
	if (ids.length === 0) throw refused("ids", "is empty");
	for (const id of ids) assertId(id, "ids");
}

export function assertLeaseUid(uid: string): void {
	assertId(uid, "lease_uid");
}

/** Each scope costs a check of rights. */
const maxScopes = 100;

export function assertScopes(scopes: readonly BudgetScope[]): void {
	if (scopes.length > maxScopes) throw refused("budgets", `has ${scopes.length} items, more than ${maxScopes}`);
	for (const { namespace, name } of scopes) {
		if (!label.test(namespace)) throw refused("budgets.namespace", "is not the name of a namespace", namespace);
		if (name !== undefined) assertName(name, "budgets.name");
	}
}

export function assertNamespaces(namespaces: readonly string[]): void {
	assertSize(namespaces, "namespaces");
	for (const namespace of namespaces) {
		if (!label.test(namespace)) throw refused("namespaces", "is not the name of a namespace", namespace);
	}
}

function assertPod(pod: PodReference, budget: BudgetName, field: string): void {
	assertName(pod.name, `${field}.pod.name`);
	assertId(pod.uid, `${field}.pod.uid`);
	// A reservation has no namespace of its own: its pod is in the budget's namespace.
	if (pod.namespace !== budget.namespace) {
		throw refused(`${field}.pod.namespace`, `is not the budget's, "${budget.namespace}"`, pod.namespace);
	}
}

/** The agent finds a pod's controller itself (commit-check.ts), but still refuses an invalid one. */
function assertController({ apiVersion, kind, name, uid }: ControllerReference): void {
	if (!groupVersion.test(apiVersion) || apiVersion.length > 317) {
		throw refused("grants.controller.api_version", "is not an API version", apiVersion);
	}
	if (!/^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind)) throw refused("grants.controller.kind", "is not a kind", kind);
	assertName(name, "grants.controller.name");
	assertId(uid, "grants.controller.uid");
}

function assertName(name: string, field: string): void {
	if (name.length > 253 || !subdomain.test(name)) throw refused(field, "is not the name of an object", name);
}

function assertId(id: string, field: string): void {
	if (id.length > maxIdLength || !/^[A-Za-z0-9._:-]+$/.test(id)) throw refused(field, "is not an id", id);
}

function assertHolder(holder: string, field: string): void {
	if (holder.length <= maxHolderLength && !hasControlCharacters(holder)) return;
	throw refused(field, `is longer than ${maxHolderLength} characters or has control characters`, holder);
}

function assertSize(items: readonly unknown[], field: string): void {
	if (items.length > maxItems) throw refused(field, `has ${items.length} items, more than ${maxItems}`);
}

function hasControlCharacters(text: string): boolean {
	return /\p{Cc}/u.test(text);
}

function refused(field: string, why: string, value?: string): AgentProtocolError {
	const shown = value === undefined ? "" : `: ${JSON.stringify(value.slice(0, 80))}`;
	return new AgentProtocolError(`cannot serve the request: ${field} ${why}${shown}`);
}
