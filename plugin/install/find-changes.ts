// Finds what an installation would change in a cluster, by a server-side apply as a dry run. So missing rights, policies that refuse, and
// fields of other owners are known before anything is written.
import { agentName, managedByLabel } from "../../disruption/agent-names.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { type AgentSettings, leftSettings } from "./agent-settings/agent-settings.ts";
import { settingFlags } from "./agent-settings/agent-settings-flags.ts";
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
	/** The CustomResourceDefinition of budgets, left as it is because others manage fields that would change. */
	| { readonly kind: "left"; readonly object: ClusterObject; readonly why: string }
	/** Our object, which is no longer wanted. */
	| { readonly kind: "removed"; readonly object: ClusterObject }
	/** Fields that would change and that others manage. `anew`: how to recreate the object, if even force cannot change these fields. */
	| {
			readonly kind: "kept";
			readonly object: ClusterObject;
			readonly conflicts: readonly string[];
			readonly anew?: string;
	  };

export interface ClusterChanges {
	readonly cluster: PlannedCluster;
	/** In the order of applying. Objects that are removed come last. */
	readonly changes: readonly ObjectChange[];
}

export interface ApplyOptions {
	readonly dryRun: boolean;
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
		cluster.objects.map(async (object, index) =>
			findChange(context, { object, now: found[index], namespaces, force, settings: cluster.settings }),
		),
	);
	const removed = await allInOrder(cluster.removed.map(async (object) => findRemoval(context, object)));
	return { cluster, changes: [...changes, ...removed.flat()] };
}

export async function changeOf(context: KubeContext, object: ClusterObject, force: boolean): Promise<ObjectChange> {
	const now = await readObject(context, object);
	return findChange(context, { object, now, namespaces: new Set(), force });
}

async function findRemoval(context: KubeContext, object: ClusterObject): Promise<readonly ObjectChange[]> {
	if (!(await readObject(context, object))) return [];
	await removeObject(context, object, { dryRun: true });
	return [{ kind: "removed", object }];
}

/** It is not an error if the object is already deleted. */
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
	/** The namespaces that this installation creates. */
	readonly namespaces: ReadonlySet<string>;
	readonly force: boolean;
	/** The planned settings of the agents. Left out where the Deployment is not applied. */
	readonly settings?: AgentSettings;
}

async function findChange(context: KubeContext, situation: Situation): Promise<ObjectChange> {
	const { object, now, namespaces, force, settings } = situation;
	if (now) refuseUnfit(context, object, now);
	const isForeign = now !== undefined && now.metadata.labels?.[agentNamespaceLabel] === undefined;
	// A namespace that others made belongs to them. If it had our label, uninstalling would delete it.
	const ours = object.kind === "Namespace" && isForeign ? unlabelled(object) : object;
	try {
		const then = await applyObject(context, ours, { dryRun: true, force });
		if (!now) return { kind: "created", object: ours };
		if (settings && object.kind === "Deployment") refuseLeftSettings(context, then, settings);
		const fields = fieldChanges(now, then);
		return fields.length === 0 ? { kind: "unchanged", object: ours } : { kind: "changed", object: ours, fields };
	} catch (error) {
		if (isNotFound(error)) await refuseUnknownKind(context, object);
		// The API server checks rights before it looks for the namespace. So after a 404, only the namespace is missing.
		if (isNotFound(error) && !now && namespaces.has(object.metadata.namespace ?? ""))
			return { kind: "created", object };
		refuseNoNamespace(context, object, error);
		const conflicts = conflictsOf(error);
		// Another field manager owns the definition, such as x-pdb's installer. The API is the same, so budgets work with that definition.
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
 * A conflict counts as unchanged if force would change nothing. The API server treats some lists and maps as one value, which conflicts if
 * the other owner's value includes defaults that ours leaves out. Writes nothing.
 */
async function conflictOf(
	context: KubeContext,
	ours: ClusterObject,
	conflicts: readonly string[],
): Promise<ObjectChange> {
	const kept = { kind: "kept", object: ours, conflicts } as const;
	const answer = applyObject(context, ours, { dryRun: true, force: true }).catch((error: unknown) => {
		// Even force is refused, so the conflict is the result.
		if (error instanceof ApiError) return error;
		throw error;
	});
	const forced = await installStep(context, `apply ${objectText(ours)}`, answer);
	if (forced instanceof ApiError) return isFixed(forced) ? { ...kept, anew: makeAnew(context, ours) } : kept;
	// Read after the dry run, so that a concurrent change counts as a difference.
	const now = await readObject(context, ours);
	return now !== undefined && isSame(now, forced) ? { kind: "unchanged", object: ours } : kept;
}

/**
 * Whether the API server refuses to change a field, such as a binding's role or a Deployment's selector. A policy's refusal names no field.
 */
function isFixed({ code, causes }: ApiError): boolean {
	return code === 422 && causes.some(({ field }) => field !== "");
}

/** Refuses an existing object if the API server refuses the change (422), for example of an immutable field. */
function refuseUnchangeable(context: KubeContext, object: ClusterObject, error: unknown): void {
	if (!(error instanceof ApiError) || error.code !== 422) return;
	throw new UsageError(
		`${context.name}: cannot apply ${objectText(object)}, which is there and cannot become ours: ${error.message}: nothing was touched`,
		isFixed(error) ? makeAnew(context, object) : `See who owns it with '${lookAt(context, object)}'`,
	);
}

function makeAnew(context: KubeContext, object: ClusterObject): string {
	const { name, suggest } = context;
	const remove = suggest.kubectl(["delete", objectText(object), ...namespaceFlag(object)], name);
	return `See who owns it with '${lookAt(context, object)}'. If it is not needed, run '${remove}', then this command again`;
}

function lookAt({ name, suggest }: KubeContext, object: ClusterObject): string {
	return suggest.kubectl(["get", objectText(object), ...namespaceFlag(object), "-o", "yaml"], name);
}

function namespaceFlag({ metadata: { namespace } }: ClusterObject): readonly string[] {
	return namespace === undefined ? [] : ["-n", namespace];
}

/** A team's namespace belongs to its users, so the installation does not create it. */
function refuseNoNamespace({ name, suggest }: KubeContext, { metadata }: ClusterObject, error: unknown): void {
	const { namespace } = metadata;
	if (!isNotFound(error) || namespace === undefined || metadata.labels?.[accountLabel] === undefined) return;
	throw new UsageError(
		`${name}: there is no namespace ${namespace}, in which a team is to have rights: nothing was touched`,
		`Make it (${suggest.kubectl(["create", "namespace", namespace], name)}), or leave it out of --operators`,
	);
}

/**
 * Refuses a reset that would change nothing. An apply that leaves a field out does not remove it while another field manager owns it, which
 * is no conflict for the API server.
 */
function refuseLeftSettings(context: KubeContext, then: ClusterObject, settings: AgentSettings): void {
	const [left] = leftSettings(then, settings);
	if (left === undefined) return;
	const { name, agents, suggest } = context;
	const edit = suggest.kubectl(["edit", `deployment/${agentName}`, "-n", agents.namespace], name);
	throw new UsageError(
		`${name}: another field manager has set what --${settingFlags[left]} would take away from deployment.apps/${agentName}: nothing was touched`,
		`Remove it with '${edit}', then run this again`,
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

/** Returns one text for each field: `.spec.replicas, kept by helm`. */
function conflictsOf(error: unknown): readonly string[] {
	if (!(error instanceof ApiError) || error.code !== 409) return [];
	return error.causes
		.filter(({ reason }) => reason === "FieldManagerConflict")
		.map(({ field, message }) => `${field}, kept by ${/^conflict with "(.*?)"/.exec(message)?.[1] ?? message}`);
}

export function isWritten({ kind }: ObjectChange): boolean {
	return kind === "created" || kind === "changed";
}

/** Formats a value for messages. Long values are shortened, and secret values are hidden. */
export function valueText(object: ClusterObject, value: unknown): string {
	if (value === undefined) return "(none)";
	if (object.kind === "Secret") return "(secret)";
	const text = JSON.stringify(value);
	return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
