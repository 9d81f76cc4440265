// Makes the objects of a member, except its certificates, in the order of applying: the shipped manifests with this fleet's settings, the
// list of members, the Service for other members, and the teams. Pure: the same settings give the same objects, so printing them again
// changes no file.
import { stringify } from "yaml";
import {
	agentName,
	defaultAgentNamespace,
	defaultFleetConfigMap,
	managedByLabel,
} from "../../disruption/agent-names.ts";
import type { FleetMember, ForgottenMember } from "../../disruption/budget/fleet.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import { type AgentSettings, listOf, recordOf, withAgentSettings } from "./agent-settings/agent-settings.ts";
import type { ClusterObject } from "./cluster-object.ts";
import { deployManifests } from "./deploy-manifests.ts";
import type { Exposure } from "./expose/exposure.ts";
import { peersServiceObject } from "./expose/peers-service.ts";
import type { Team } from "./team.ts";
import { teamObjects } from "./team-objects.ts";

export interface FleetSettings {
	readonly agentNamespace: string;
	/** Undefined: the image of the manifests. */
	readonly image: string | undefined;
	/** The settings that differ from the shipped ones. */
	readonly agents: AgentSettings;
	readonly members: readonly FleetMember[];
	readonly forgotten: readonly ForgottenMember[];
	/** The groups that decide about all budgets; empty: the group of the manifests. */
	readonly operators: readonly string[];
	/** The namespace whose pods may scrape the agents; undefined: the one of the manifests. */
	readonly metricsNamespace?: string | undefined;
	/** How agents of other members reach this cluster's agents; undefined: without a Service of ours. */
	readonly exposure: Exposure | undefined;
	readonly teams: readonly Team[];
}

/**
 * The label of each object of an installation, with the agents' namespace as its value. A namespace that existed before does not get it,
 * nor does the CustomResourceDefinition of budgets, which outlives the installation.
 */
export const agentNamespaceLabel = "xpdb.form3.tech/agent-namespace";

export const operatorsRole = "xpdb-operators";

/** Kubernetes sets this label on every namespace. */
export const namespaceNameLabel = "kubernetes.io/metadata.name";

/** Each kind comes after the kinds that it needs. */
const kinds: readonly string[] = [
	"CustomResourceDefinition",
	"Namespace",
	"ValidatingAdmissionPolicy",
	"ValidatingAdmissionPolicyBinding",
	"ServiceAccount",
	"ClusterRole",
	"ClusterRoleBinding",
	"Role",
	"RoleBinding",
	"NetworkPolicy",
	"ConfigMap",
	"Secret",
	"Issuer",
	"Certificate",
	"Service",
	"PodDisruptionBudget",
	"Deployment",
];

/** Throws a TypeError for a manifest whose kind has no place in the order. */
export function fleetObjects(settings: FleetSettings): readonly ClusterObject[] {
	const { agentNamespace, exposure } = settings;
	const objects = deployManifests(agentNamespace).map((object) => filledIn(object, settings));
	const peers = exposure ? [peersServiceObject(agentNamespace, exposure)] : [];
	const teams = settings.teams.flatMap((team) => teamObjects(agentNamespace, team));
	return ofInstallation([...objects, fleetConfigMap(settings), ...peers, ...teams], agentNamespace);
}

export function fleetListObject(
	settings: Pick<FleetSettings, "agentNamespace" | "members" | "forgotten">,
): ClusterObject {
	return labelled(fleetConfigMap(settings), settings.agentNamespace);
}

/** Adds an installation's labels to the objects and sorts them into its order. */
export function ofInstallation(objects: readonly ClusterObject[], agentNamespace: string): readonly ClusterObject[] {
	return objects
		.map((object) => labelled(object, agentNamespace))
		.toSorted((a, b) => placeOf(a) - placeOf(b) || (nameKey(a) < nameKey(b) ? -1 : 1));
}

function nameKey({ metadata: { name, namespace = "" } }: ClusterObject): string {
	return `${name} ${namespace}`;
}

/** The place in the order of installation. Objects are deleted in the reverse order. */
export function placeOf({ kind }: ClusterObject): number {
	const place = kinds.indexOf(kind);
	if (place === -1) throw new TypeError(`${kind} has no place in the order of an installation`);
	return place;
}

/** Whether this is the list of members, which applyFleet() writes later than the other ConfigMaps. */
export function isFleetList({ kind, metadata }: ClusterObject): boolean {
	return kind === "ConfigMap" && metadata.name === defaultFleetConfigMap;
}

function fleetConfigMap({
	agentNamespace,
	members,
	forgotten,
}: Pick<FleetSettings, "agentNamespace" | "members" | "forgotten">): ClusterObject {
	const list = (entries: readonly object[]): string => stringify(entries, { lineWidth: 0 });
	return {
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: { name: defaultFleetConfigMap, namespace: agentNamespace },
		data: { members: list(members), ...(forgotten.length > 0 && { forgotten: list(forgotten) }) },
	};
}

function labelled(object: ClusterObject, agentNamespace: string): ClusterObject {
	const labels = {
		...object.metadata.labels,
		[managedByLabel]: fieldManager,
		...(object.kind !== "CustomResourceDefinition" && { [agentNamespaceLabel]: agentNamespace }),
	};
	return { ...object, metadata: { ...object.metadata, labels } };
}

function filledIn(object: ClusterObject, settings: FleetSettings): ClusterObject {
	const { kind, metadata } = object;
	if (kind === "Deployment" && metadata.name === agentName) return filledInDeployment(object, settings);
	if (kind === "NetworkPolicy" && settings.metricsNamespace !== undefined) {
		return filledInNetworkPolicy(object, settings.metricsNamespace);
	}
	if (kind.endsWith("RoleBinding") && metadata.name === operatorsRole && settings.operators.length > 0) {
		return { ...object, subjects: settings.operators.map((name) => ({ apiGroup: rbacGroup, kind: "Group", name })) };
	}
	return object;
}

const rbacGroup = "rbac.authorization.k8s.io";

function filledInDeployment(object: ClusterObject, settings: FleetSettings): ClusterObject {
	const { agentNamespace, image, agents } = settings;
	const spec = recordOf(object["spec"]);
	const template = recordOf(spec["template"]);
	const pod = recordOf(template["spec"]);
	const [container, ...more] = listOf(pod["containers"]).map(recordOf);
	// The agent's own flags have this default.
	const flags =
		agentNamespace === defaultAgentNamespace
			? []
			: [`--agent-namespace=${agentNamespace}`, `--lease-namespace=${agentNamespace}`];
	const agent = {
		...container,
		...(image !== undefined && { image }),
		args: [...listOf(container?.["args"]), ...flags],
	};
	const filled = { ...pod, containers: [agent, ...more] };
	return withAgentSettings({ ...object, spec: { ...spec, template: { ...template, spec: filled } } }, agents);
}

function filledInNetworkPolicy(object: ClusterObject, namespace: string): ClusterObject {
	const spec = recordOf(object["spec"]);
	const ingress = listOf(spec["ingress"])
		.map(recordOf)
		.map((rule) => ({
			...rule,
			from: listOf(rule["from"])
				.map(recordOf)
				.map((from) =>
					from["namespaceSelector"] === undefined
						? from
						: { ...from, namespaceSelector: { matchLabels: { [namespaceNameLabel]: namespace } } },
				),
		}));
	return { ...object, spec: { ...spec, ingress } };
}
