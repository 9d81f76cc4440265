// Reads what a cluster has of xpdb, before an installation or its removal changes anything.
import { agentName, defaultFleetConfigMap, managedByLabel } from "../../disruption/agent-names.ts";
import { InvalidFleetError } from "../../disruption/budget/declared-fleet.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { isRecord } from "../../disruption/record.ts";
import { isNotFound } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { type AgentSettings, readAgentSettings } from "./agent-settings/agent-settings.ts";
import { allInOrder } from "./all-in-order.ts";
import type { ClusterObject } from "./cluster-object.ts";
import { type FoundPeers, readPeers } from "./expose/read-peers.ts";
import { namespaceNameLabel, operatorsRole } from "./fleet-objects.ts";
import { installStep } from "./install-step.ts";
import { oldestMinor } from "./oldest-kubernetes.ts";
import { readFleetList } from "./read-fleet-list.ts";
import type { Team } from "./team.ts";
import { accountLabel, peopleBinding } from "./team-objects.ts";

export interface FoundCluster {
	readonly context: KubeContext;
	/** The UID of its namespace kube-system. */
	readonly id: string;
	readonly fleet: DeclaredFleet | undefined;
	/** The image of the agents' Deployment; undefined if there is no Deployment. */
	readonly image: string | undefined;
	/** The settings of that Deployment that differ from the shipped ones. */
	readonly agentSettings: AgentSettings;
	/** The groups that decide about all budgets. */
	readonly operators: readonly string[];
	readonly teams: readonly Team[];
	/** The namespace whose pods may scrape the agents; undefined if no NetworkPolicy names one. */
	readonly metricsNamespace?: string | undefined;
	/** The Service through which agents of other members connect; undefined if no installation has made one. */
	readonly peers: FoundPeers | undefined;
}

const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** Throws UsageError, with the context's name, if something cannot be read or prevents an installation. */
export async function findCluster(context: KubeContext): Promise<FoundCluster> {
	const { name, agents } = context;
	const read = (what: string, path: string): Promise<unknown> => {
		const answer = context.client.get<unknown>(path).catch((error: unknown) => {
			if (isNotFound(error)) return undefined;
			throw error;
		});
		return installStep(context, `read ${what}`, answer);
	};
	const inAgents = (plural: string, object: string, group = "/api/v1"): string =>
		`${group}/namespaces/${agents.namespace}/${plural}/${object}`;
	const [version, kubeSystem, list, deployment, binding, peers, teams, policy] = await allInOrder([
		read("its version", "/version"),
		read("its id, the UID of namespace kube-system", "/api/v1/namespaces/kube-system"),
		read("the fleet", inAgents("configmaps", defaultFleetConfigMap)),
		read("the agents", inAgents("deployments", agentName, "/apis/apps/v1")),
		read("who may drain", inAgents("rolebindings", operatorsRole, rbac)),
		installStep(context, "read how its agents are reached", readPeers(context)),
		findTeams(context),
		read("who may scrape its agents", inAgents("networkpolicies", agentName, "/apis/networking.k8s.io/v1")),
	]);
	refuseOld(name, version);
	const id = at(kubeSystem, "metadata", "uid");
	if (typeof id !== "string" || id === "") throw new UsageError(`${name}: namespace kube-system has no UID`);
	const [container] = listAt(deployment, "spec", "template", "spec", "containers");
	return {
		context,
		id,
		fleet: readFleet(context, list),
		image: textAt(container, "image"),
		agentSettings: readAgentSettings(deployment),
		operators: groupsOf(binding),
		teams,
		peers,
		metricsNamespace: scrapingNamespace(policy),
	};
}

/**
 * Returns the teams of an installation, from the RoleBindings of their groups: one in the agents' namespace, and one in each of the team's
 * namespaces.
 */
async function findTeams(context: KubeContext): Promise<readonly Team[]> {
	const labelSelector = `${accountLabel},${managedByLabel}=${fieldManager}`;
	const listed = context.client.list<ClusterObject>(`${rbac}/rolebindings`, { labelSelector });
	const bindings = await installStep(context, "list the role bindings of teams", listed);
	const accounts = Map.groupBy(bindings, ({ metadata }) => metadata.labels?.[accountLabel] ?? "");
	const teams = [...accounts].map(([account, own]): Team => {
		const people = own.filter(({ metadata }) => metadata.name === peopleBinding(account));
		const inAnchor = people.find(({ metadata }) => metadata.namespace === context.agents.namespace);
		const namespaces = people.filter((each) => each !== inAnchor).map(({ metadata }) => metadata.namespace ?? "");
		return { account, groups: groupsOf(inAnchor), namespaces };
	});
	// A partly deleted team is not restored.
	return teams.filter(({ groups, namespaces }) => groups.length > 0 && namespaces.length > 0);
}

function scrapingNamespace(policy: unknown): string | undefined {
	const sources = listAt(policy, "spec", "ingress").flatMap((rule) => listAt(rule, "from"));
	const [named] = sources.flatMap((from) => textAt(from, "namespaceSelector", "matchLabels", namespaceNameLabel) ?? []);
	return named;
}

function groupsOf(binding: unknown): readonly string[] {
	return listAt(binding, "subjects").flatMap((subject) =>
		at(subject, "kind") === "Group" ? (textAt(subject, "name") ?? []) : [],
	);
}

function refuseOld(context: string, version: unknown): void {
	const minor = Number.parseInt(textAt(version, "minor") ?? "", 10);
	if (textAt(version, "major") !== "1" || minor >= oldestMinor) return;
	throw new UsageError(
		`${context}: its Kubernetes is ${textAt(version, "gitVersion")}, and 1.${oldestMinor} is the oldest that xpdb runs on: nothing was touched`,
	);
}

function readFleet({ name, suggest }: KubeContext, list: unknown): DeclaredFleet | undefined {
	if (list === undefined) return undefined;
	const data = at(list, "data");
	try {
		return readFleetList(isRecord(data) ? data : {});
	} catch (error) {
		if (!(error instanceof InvalidFleetError)) throw error;
		throw new UsageError(
			`${name}: its ConfigMap ${defaultFleetConfigMap} cannot be used, so the members of the fleet are unknown: ${error.message}`,
			`See '${suggest.kubectl(["get", "configmap", defaultFleetConfigMap, "-A", "-o", "yaml"], name)}'`,
		);
	}
}

function at(value: unknown, ...path: readonly string[]): unknown {
	return path.reduce((found, key) => (isRecord(found) ? found[key] : undefined), value);
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
	const found = at(value, ...path);
	return typeof found === "string" ? found : undefined;
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
	const found = at(value, ...path);
	return Array.isArray(found) ? found : [];
}
