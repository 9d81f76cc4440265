// Finds what a cluster has of an installation. Objects are found by name, no matter who applied them, and most kinds also by label, which
// finds objects of other versions. Budgets are only counted, and their CustomResourceDefinition is kept separate.

import { managedByLabel } from "../../disruption/agent-names.ts";
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { isRecord } from "../../disruption/record.ts";
import { isNotFound } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { allInOrder } from "./all-in-order.ts";
import { agentSecret, authoritySecret, caConfigMap, certificateObject, issuerObject } from "./certificate-objects.ts";
import { type ClusterObject, objectKey, objectText } from "./cluster-object.ts";
import { peersService } from "./expose/peers-service.ts";
import { agentNamespaceLabel, fleetObjects, ofInstallation } from "./fleet-objects.ts";
import { findCluster } from "./found-cluster.ts";
import { installStep } from "./install-step.ts";
import { collectionPath, objectPath } from "./object-path.ts";
import { accountLabel, teamObjects } from "./team-objects.ts";

export interface InstalledCluster {
	readonly context: KubeContext;
	readonly id: string;
	readonly fleet: DeclaredFleet | undefined;
	/** In the order of deletion, the reverse of the order of installation. */
	readonly objects: readonly ClusterObject[];
	/** The agents' namespace, if others made it or keep certificates in it. It stays, and our objects in it are deleted one by one. */
	readonly keptNamespace: ClusterObject | undefined;
	/** Certificates and CAs that a user created or gets from cert-manager: xpdb could not recreate them. */
	readonly keptCertificates: readonly ClusterObject[];
	/** The CustomResourceDefinition of budgets. */
	readonly definition: ClusterObject | undefined;
	/** In all namespaces. */
	readonly budgets: number;
}

/** Throws UsageError as findCluster() does, if objects cannot be read, or if the agents are in another namespace. */
export async function findInstalled(context: KubeContext): Promise<InstalledCluster> {
	const { namespace } = context.agents;
	const shipped = shippedObjects(namespace);
	const [cluster, found, labelled, budgets] = await allInOrder([
		findCluster(context),
		allInOrder(shipped.map(async (object) => existing(context, object))),
		findLabelled(context, shipped),
		countBudgets(context),
	]);
	const all = new Map([...found.flat(), ...labelled].map((object) => [objectKey(object), object]));
	const objects = [...all.values()];
	refuseOtherNamespace(context, objects);
	const keptCertificates = objects.filter((object) => isPersonsCertificate(object, objects));
	const goes = ({ metadata, kind }: ClusterObject): boolean =>
		kind !== "Namespace" || (metadata.labels?.[agentNamespaceLabel] !== undefined && keptCertificates.length === 0);
	return {
		context,
		id: cluster.id,
		fleet: cluster.fleet,
		objects: ofInstallation(
			objects.filter((object) => !isDefinition(object) && !keptCertificates.includes(object) && goes(object)),
			namespace,
		).toReversed(),
		keptNamespace: objects.find((object) => !goes(object)),
		keptCertificates,
		definition: objects.find(isDefinition),
		budgets,
	};
}

function isDefinition({ kind }: ClusterObject): boolean {
	return kind === "CustomResourceDefinition";
}

/**
 * Whether no installation made this certificate or CA. Installations label all of theirs, except the Secret that cert-manager makes for our
 * Certificate.
 */
function isPersonsCertificate(object: ClusterObject, all: readonly ClusterObject[]): boolean {
	const { kind, metadata } = object;
	const isOne =
		["Secret", "Issuer", "Certificate"].includes(kind) || (kind === "ConfigMap" && metadata.name === caConfigMap);
	if (!isOne || isOurs(object)) return false;
	const issued = all.find((each) => each.kind === "Certificate" && isOurs(each));
	return !(issued && kind === "Secret" && isIssuedFor(object, issued));
}

function isOurs({ metadata }: ClusterObject): boolean {
	return metadata.labels?.[managedByLabel] === fieldManager;
}

/** cert-manager names the Certificate in each Secret that it makes. */
function isIssuedFor({ metadata }: ClusterObject, certificate: ClusterObject): boolean {
	const annotations = metadata["annotations"];
	return isRecord(annotations) && annotations["cert-manager.io/certificate-name"] === certificate.metadata.name;
}

/** Cluster-wide objects have the same names for every agent namespace. Deleting them would take the other agents' rights and policies. */
function refuseOtherNamespace({ name, agents }: KubeContext, objects: readonly ClusterObject[]): void {
	const namespaces = objects.map(({ metadata }) => metadata.labels?.[agentNamespaceLabel]);
	const other = namespaces.find((namespace) => namespace !== undefined && namespace !== agents.namespace);
	if (other === undefined) return;
	throw new UsageError(
		`${name}: xpdb is installed in namespace ${other} there, not in ${agents.namespace}: nothing was touched`,
		`Use --agent-namespace=${other}`,
	);
}

/** The objects that an installation may have made, except those of teams. Only their kinds and names are used. */
function shippedObjects(namespace: string): readonly ClusterObject[] {
	const unset = { image: undefined, agents: {}, exposure: undefined };
	const settings = { ...unset, members: [], forgotten: [], operators: [], teams: [] };
	const named = (kind: string, name: string): ClusterObject => ({
		apiVersion: "v1",
		kind,
		metadata: { name, namespace },
	});
	const issuer = { kind: "Issuer", name: authoritySecret } as const;
	return ofInstallation(
		[
			...fleetObjects({ agentNamespace: namespace, ...settings }),
			named("Secret", agentSecret),
			named("Secret", authoritySecret),
			named("ConfigMap", caConfigMap),
			named("Service", peersService),
			issuerObject(namespace),
			certificateObject(namespace, { clusterId: "", serverName: "", issuer }),
		],
		namespace,
	);
}

/** Returns the object as it exists, without content that may be secret; empty if it does not exist. */
async function existing(context: KubeContext, object: ClusterObject): Promise<readonly ClusterObject[]> {
	const answer = context.client.get<ClusterObject>(objectPath(object), { metadataOnly: "object" }).then(
		({ metadata }) => [{ apiVersion: object.apiVersion, kind: object.kind, metadata }],
		(error: unknown) => {
			if (isNotFound(error)) return [];
			throw error;
		},
	);
	return installStep(context, `look for ${objectText(object)}`, answer);
}

/**
 * Finds objects by the labels of an installation. Secrets are found only by name, because a list would return their contents. So are
 * cert-manager's objects and the CustomResourceDefinition.
 */
async function findLabelled(
	context: KubeContext,
	shipped: readonly ClusterObject[],
): Promise<readonly ClusterObject[]> {
	const listable = shipped.filter(
		({ kind }) => !["Secret", "Issuer", "Certificate", "CustomResourceDefinition"].includes(kind),
	);
	const collections = new Map(listable.map((object) => [collectionPath(object), object]));
	const labelSelector = `${managedByLabel}=${fieldManager},${agentNamespaceLabel}=${context.agents.namespace}`;
	const list = async (path: string, selector: string, { apiVersion, kind }: ClusterObject) => {
		const listed = context.client.list<ClusterObject>(path, { labelSelector: selector });
		const items = await installStep(context, `list ${path}`, listed);
		return items.map(({ metadata }): ClusterObject => ({ apiVersion, kind, metadata }));
	};
	// Teams also have objects in other namespaces.
	const example = { account: "-", groups: [], namespaces: ["-"] };
	const ofTeams = new Map(
		teamObjects(context.agents.namespace, example).map((object) => {
			const { kind, metadata } = object;
			const isAnywhere = kind === "Role" || kind === "RoleBinding";
			return [collectionPath(isAnywhere ? { ...object, metadata: { name: metadata.name } } : object), object];
		}),
	);
	const lists = [
		...[...collections].map(([path, object]) => list(path, labelSelector, object)),
		...[...ofTeams].map(([path, object]) => list(path, accountLabel, object)),
	];
	return (await allInOrder(lists)).flat();
}

async function countBudgets(context: KubeContext): Promise<number> {
	const { group, version, resource } = budgetApi;
	const listed = context.client.list(`/apis/${group}/${version}/${resource}`).catch((error: unknown) => {
		if (isNotFound(error)) return [];
		throw error;
	});
	return (await installStep(context, "list the budgets", listed)).length;
}
