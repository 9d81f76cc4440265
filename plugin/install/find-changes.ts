// What an installation would change in a cluster: the API server itself says it, by a server-side apply that writes nothing. So rights that are
// missing, policies that refuse and fields that others keep are known before anything is written.
import { managedByLabel } from "../../disruption/agent-names.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { allInOrder } from "./all-in-order.ts";
import { type ClusterObject, objectText } from "./cluster-object.ts";
import { agentNamespaceLabel } from "./fleet-objects.ts";
import { installStep } from "./install-step.ts";
import { type FieldChange, fieldChanges, isSame } from "./object-changes.ts";
import { objectPath } from "./object-path.ts";
import type { PlannedCluster } from "./planned-fleet.ts";
import { refuseUnknownKind } from "./refuse-unknown-kind.ts";
import { accountLabel } from "./team-objects.ts";

export type ObjectChange =
	| { readonly kind: "created" | "unchanged"; readonly object: ClusterObject }
	| { readonly kind: "changed"; readonly object: ClusterObject; readonly fields: readonly FieldChange[] }
	/** Somebody else's, which does just as well. */
	| { readonly kind: "left"; readonly object: ClusterObject; readonly why: string }
	/** Ours, and not wanted any more. */
	| { readonly kind: "removed"; readonly object: ClusterObject }
	/** Fields that would change, and that somebody else keeps. `anew`: where no force changes them either, how the object is made anew. */
	| {
			readonly kind: "kept";
			readonly object: ClusterObject;
			readonly conflicts: readonly string[];
			readonly anew?: string;
	  };

export interface ClusterChanges {
	readonly cluster: PlannedCluster;
	/** In the order in which they are applied. */
	readonly changes: readonly ObjectChange[];
}

export interface ApplyOptions {
	readonly dryRun: boolean;
	/** Fields that others keep become ours. */
	readonly force: boolean;
}

export function applyObject(
	{ client }: Pick<KubeContext, "client">,
	object: ClusterObject,
	{ dryRun, force }: ApplyOptions,
): Promise<ClusterObject> {
	const query = `fieldManager=${fieldManager}&fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}${force ? "&force=true" : ""}`;
	return client.apply<ClusterObject>(`${objectPath(object)}?${query}`, object);
}

export async function findChanges(cluster: PlannedCluster, force: boolean): Promise<ClusterChanges> {
	const { context } = cluster.found;
	const found = await allInOrder(cluster.objects.map(async (object) => readObject(context, object)));
	const namespaces = new Set(
		cluster.objects.flatMap(({ kind, metadata }, index) =>
			kind === "Namespace" && !found[index] ? metadata.name : [],
		),
	);
	const changes = await allInOrder(
		cluster.objects.map(async (object, index) => findChange(context, { object, now: found[index], namespaces, force })),
	);
	const removed = await allInOrder(cluster.removed.map(async (object) => findRemoval(context, object)));
	return { cluster, changes: [...changes, ...removed.flat()] };
}

/** Whether it would change now, and how: of the one object. */
export async function changeOf(context: KubeContext, object: ClusterObject, force: boolean): Promise<ObjectChange> {
	const now = await readObject(context, object);
	return findChange(context, { object, now, namespaces: new Set(), force });
}

async function findRemoval(context: KubeContext, object: ClusterObject): Promise<readonly ObjectChange[]> {
	if (!(await readObject(context, object))) return [];
	await removeObject(context, object, { dryRun: true });
	return [{ kind: "removed", object }];
}

/** One that is gone is gone, whoever took it away. */
export async function removeObject(
	context: KubeContext,
	object: ClusterObject,
	{ dryRun }: { readonly dryRun: boolean },
): Promise<void> {
	const options = { apiVersion: "v1", kind: "DeleteOptions", ...(dryRun && { dryRun: ["All"] }) };
	const answer = context.client.delete(objectPath(object), options).catch((error: unknown) => {
		if (!isNotFound(error)) throw error;
	});
	await installStep(context, `delete ${objectText(object)}`, answer);
}

export async function readObject(context: KubeContext, object: ClusterObject): Promise<ClusterObject | undefined> {
	const answer = context.client.get<ClusterObject>(objectPath(object)).catch((error: unknown) => {
		if (isNotFound(error)) return undefined;
		throw error;
	});
	return installStep(context, `read ${objectText(object)}`, answer);
}

interface Situation {
	readonly object: ClusterObject;
	readonly now: ClusterObject | undefined;
	/** Those that are made first. */
	readonly namespaces: ReadonlySet<string>;
	readonly force: boolean;
}

async function findChange(context: KubeContext, { object, now, namespaces, force }: Situation): Promise<ObjectChange> {
	if (now) refuseUnfit(context, object, now);
	const isForeign = now !== undefined && now.metadata.labels?.[agentNamespaceLabel] === undefined;
	// A namespace that others made is theirs: a label of ours would say that it goes when we go.
	const ours = object.kind === "Namespace" && isForeign ? unlabelled(object) : object;
	try {
		const then = await applyObject(context, ours, { dryRun: true, force });
		if (!now) return { kind: "created", object: ours };
		const fields = fieldChanges(now, then);
		return fields.length === 0 ? { kind: "unchanged", object: ours } : { kind: "changed", object: ours, fields };
	} catch (error) {
		if (isNotFound(error)) await refuseUnknownKind(context, object);
		// What is refused first is a right that is missing; then the namespace is looked for.
		if (isNotFound(error) && !now && namespaces.has(object.metadata.namespace ?? ""))
			return { kind: "created", object };
		refuseNoNamespace(context, object, error);
		const conflicts = conflictsOf(error);
		// Of x-pdb, or of somebody who installed it by hand: the same API, so that its budgets count as they are.
		if (conflicts.length > 0 && object.kind === "CustomResourceDefinition") {
			return { kind: "left", object, why: `${conflicts.join(", ")}; --force-conflicts takes it over` };
		}
		if (conflicts.length > 0 && now) return conflictOf(context, ours, conflicts);
		if (conflicts.length > 0) return { kind: "kept", object, conflicts };
		if (now) refuseUnchangeable(context, object, error);
		return installStep(context, `apply ${objectText(object)}`, Promise.reject(error));
	}
}

/**
 * What force would come to, where somebody else keeps fields. A list or a map that is one value to the API server is theirs with the defaults
 * in it, which ours leaves out: it calls that a conflict, though nothing would change. Written is nothing.
 */
async function conflictOf(
	context: KubeContext,
	ours: ClusterObject,
	conflicts: readonly string[],
): Promise<ObjectChange> {
	const kept = { kind: "kept", object: ours, conflicts } as const;
	const answer = applyObject(context, ours, { dryRun: true, force: true }).catch((error: unknown) => {
		// Not even so: then the conflict is what there is to say.
		if (error instanceof ApiError) return error;
		throw error;
	});
	const forced = await installStep(context, `apply ${objectText(ours)}`, answer);
	if (forced instanceof ApiError) return isFixed(forced) ? { ...kept, anew: makeAnew(context, ours) } : kept;
	// Read after it: what somebody changed since the first reading is a difference.
	const now = await readObject(context, ours);
	return now !== undefined && isSame(now, forced) ? { kind: "unchanged", object: ours } : kept;
}

/** The API server refuses a field as it would be: a binding's role, a Deployment's selector. A policy that refuses names none. */
function isFixed({ code, causes }: ApiError): boolean {
	return code === 422 && causes.some(({ field }) => field !== "");
}

/** Somebody's object of the same name, of which not everything can be changed. */
function refuseUnchangeable(context: KubeContext, object: ClusterObject, error: unknown): void {
	if (!(error instanceof ApiError) || error.code !== 422) return;
	throw new UsageError(
		`${context.name}: cannot apply ${objectText(object)}, which is there and cannot become ours: ${error.message}: nothing was touched`,
		isFixed(error) ? makeAnew(context, object) : `See whose it is with '${lookAt(context, object)}'`,
	);
}

function makeAnew(context: KubeContext, object: ClusterObject): string {
	const { name, suggest } = context;
	const remove = suggest.kubectl(["delete", objectText(object), ...namespaceFlag(object)], name);
	return `See whose it is with '${lookAt(context, object)}'; where nobody needs it, '${remove}', and this again makes it anew`;
}

function lookAt({ name, suggest }: KubeContext, object: ClusterObject): string {
	return suggest.kubectl(["get", objectText(object), ...namespaceFlag(object), "-o", "yaml"], name);
}

function namespaceFlag({ metadata: { namespace } }: ClusterObject): readonly string[] {
	return namespace === undefined ? [] : ["-n", namespace];
}

/** Of a team: namespaces are people's own, and none is made for them. */
function refuseNoNamespace({ name, suggest }: KubeContext, { metadata }: ClusterObject, error: unknown): void {
	const { namespace } = metadata;
	if (!isNotFound(error) || namespace === undefined || metadata.labels?.[accountLabel] === undefined) return;
	throw new UsageError(
		`${name}: there is no namespace ${namespace}, in which a team is to have rights: nothing was touched`,
		`Make it (${suggest.kubectl(["create", "namespace", namespace], name)}), or leave it out of --operators`,
	);
}

function refuseUnfit({ name, agents }: KubeContext, object: ClusterObject, now: ClusterObject): void {
	if (now.metadata["deletionTimestamp"] !== undefined) {
		throw new UsageError(
			`${name}: ${objectText(object)} is being deleted`,
			"Wait until it is gone, then run this again",
		);
	}
	const installed = now.metadata.labels?.[agentNamespaceLabel];
	if (installed === undefined || installed === agents.namespace) return;
	throw new UsageError(
		`${name}: xpdb is installed in namespace ${installed} there, and a cluster has it once: nothing was touched`,
		`Use --agent-namespace=${installed}, or uninstall that first`,
	);
}

function unlabelled(object: ClusterObject): ClusterObject {
	const { [agentNamespaceLabel]: _, [managedByLabel]: __, ...labels } = object.metadata.labels ?? {};
	return { ...object, metadata: { ...object.metadata, labels } };
}

/** `.spec.replicas, kept by helm`, one for each field. */
function conflictsOf(error: unknown): readonly string[] {
	if (!(error instanceof ApiError) || error.code !== 409) return [];
	return error.causes
		.filter(({ reason }) => reason === "FieldManagerConflict")
		.map(({ field, message }) => `${field}, kept by ${/^conflict with "(.*?)"/.exec(message)?.[1] ?? message}`);
}

export function isWritten({ kind }: ObjectChange): boolean {
	return kind === "created" || kind === "changed";
}

/** A value as a person reads it; long ones by their beginning, secret ones not at all. */
export function valueText(object: ClusterObject, value: unknown): string {
	if (value === undefined) return "(none)";
	if (object.kind === "Secret") return "(secret)";
	const text = JSON.stringify(value);
	return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
