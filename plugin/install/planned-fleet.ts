// Plans what each cluster contains, except certificates: as the flags say, and otherwise as it is now.
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import type { AgentSettings } from "./agent-settings/agent-settings.ts";
import { planAgentSettings, type SettingsChange } from "./agent-settings/plan-agent-settings.ts";
import type { ClusterObject } from "./cluster-object.ts";
import type { Exposure } from "./expose/exposure.ts";
import { chooseAddress } from "./expose/offered-addresses.ts";
import { peersServiceObject } from "./expose/peers-service.ts";
import { planExposures } from "./expose/plan-exposures.ts";
import { fleetObjects } from "./fleet-objects.ts";
import type { FoundCluster } from "./found-cluster.ts";
import type { InstallOptions } from "./install-options.ts";
import { type PlannedAddress, type PlannedMembers, planMembers } from "./plan-members.ts";
import type { Team } from "./team.ts";

export interface PlannedCluster {
	readonly found: FoundCluster;
	/** In the order of applying. */
	readonly objects: readonly ClusterObject[];
	/** Existing objects that are no longer wanted. */
	readonly removed: readonly ClusterObject[];
	readonly exposure: Exposure | undefined;
	/** The agents' settings that differ from the shipped ones. */
	readonly settings: AgentSettings;
	readonly change: SettingsChange;
}

export interface PlannedFleet extends PlannedMembers {
	readonly clusters: readonly PlannedCluster[];
	/** Rights of the flags' teams to namespaces that the flags do not name. They are not removed. */
	readonly keptRights: readonly KeptRight[];
}

export interface KeptRight {
	readonly context: KubeContext;
	readonly account: string;
	readonly namespace: string;
}

/** Throws UsageError for settings that are missing, contradict each other, or cannot be applied. */
export function planFleet(
	found: readonly FoundCluster[],
	options: Pick<InstallOptions, "image" | "agentSettings" | "operators" | "addresses" | "expose"> &
		Partial<Pick<InstallOptions, "metricsNamespace">>,
): PlannedFleet {
	const listed = found.flatMap(({ fleet }) => fleet?.members ?? []);
	const named = found.map(({ context, id }) => ({
		context: context.name,
		names: [...new Set([context.name, ...listed.flatMap((member) => (member.id === id ? [member.name] : []))])],
	}));
	const wanted = planExposures(named, options.expose);
	const changed = planAgentSettings(named, options.agentSettings);
	const exposed = found.map((cluster) => planExposure(cluster, wanted.get(cluster.context.name), { found, listed }));
	const candidates = exposed.map(({ cluster: { context, id, fleet }, address }) => ({
		name: context.name,
		id,
		fleet,
		...(address && { address }),
	}));
	const planned = planMembers(candidates, options.addresses);
	const { members, forgotten } = planned;
	const elsewhere = found.find(({ image }) => image !== undefined);
	const operators = found.find((cluster) => cluster.operators.length > 0)?.operators ?? [];
	refuseAnchor(found, options.operators.teams);
	const clusters = exposed.map(({ cluster, exposure, removed }): PlannedCluster => {
		// A cluster without agents gets the settings of the first one that has agents.
		const { image, agentSettings, metricsNamespace } = cluster.image === undefined ? { ...elsewhere } : cluster;
		// The number of agents may be an autoscaler's, or that of an incident.
		const { replicas, ...others } = agentSettings ?? {};
		const found = cluster.image === undefined || replicas === undefined ? others : { ...others, replicas };
		const change = changed.get(cluster.context.name) ?? {};
		const settings = withChange(found, change);
		if (settings.replicas === 0) refuseNoAgents(cluster.context.name);
		const objects = fleetObjects({
			agentNamespace: cluster.context.agents.namespace,
			image: options.image ?? image ?? refuseNoImage(),
			agents: settings,
			metricsNamespace: options.metricsNamespace ?? metricsNamespace,
			members,
			forgotten,
			operators:
				options.operators.groups.length > 0
					? options.operators.groups
					: cluster.operators.length > 0
						? cluster.operators
						: operators,
			teams: withTeams(cluster.image === undefined ? (elsewhere?.teams ?? []) : cluster.teams, options.operators.teams),
			exposure,
		});
		return { found: cluster, objects, removed, exposure, settings, change };
	});
	return { ...planned, clusters, keptRights: found.flatMap((cluster) => keptRights(cluster, options.operators.teams)) };
}

function refuseNoAgents(context: string): never {
	throw new UsageError(
		`${context}: its Deployment xpdb-agent has 0 replicas, so nothing is evicted in the whole fleet: nothing was touched`,
		`Say how many agents there are to be: --agent-replicas=${context}=2`,
	);
}

function withChange(found: AgentSettings, change: SettingsChange): AgentSettings {
	return Object.fromEntries(Object.entries({ ...found, ...change }).filter(([, value]) => value !== undefined));
}

/** Returns the named teams as the flags say, and all other teams as they are. */
function withTeams(found: readonly Team[], named: readonly Team[]): readonly Team[] {
	const isNamed = ({ account }: Team): boolean => named.some((team) => team.account === account);
	return [...found.filter((team) => !isNamed(team)), ...named];
}

function keptRights({ context, teams }: FoundCluster, named: readonly Team[]): readonly KeptRight[] {
	return named.flatMap(({ account, namespaces }) => {
		const before = teams.find((team) => team.account === account)?.namespaces ?? [];
		return before
			.filter((namespace) => !namespaces.includes(namespace))
			.map((namespace) => ({ context, account, namespace }));
	});
}

/** A team with rights to the agents' namespace could evict the agents or take their tokens. */
function refuseAnchor(found: readonly FoundCluster[], teams: readonly Team[]): void {
	for (const { context } of found) {
		const team = teams.find(({ namespaces }) => namespaces.includes(context.agents.namespace));
		if (!team) continue;
		throw new UsageError(
			`--operators gives account ${team.account} namespace ${context.agents.namespace}, which is reserved for the agents`,
		);
	}
}

interface ClusterExposure {
	readonly cluster: FoundCluster;
	readonly exposure: Exposure | undefined;
	readonly removed: readonly ClusterObject[];
	/** Undefined: as it is listed. */
	readonly address: PlannedAddress | undefined;
}

/** `wanted`: undefined if no flag applies to this cluster, so that its Service stays as it is. */
function planExposure(
	cluster: FoundCluster,
	wanted: Exposure | "none" | undefined,
	{ found, listed }: { readonly found: readonly FoundCluster[]; readonly listed: readonly FleetMember[] },
): ClusterExposure {
	const { context, id, peers } = cluster;
	if (wanted === "none") {
		const removed = peers ? [peersServiceObject(context.agents.namespace, peers.exposure)] : [];
		return { cluster, exposure: undefined, removed, address: peers && { kind: "none" } };
	}
	const exposure = inOneStack(wanted, peers?.exposure) ?? peers?.exposure;
	const stays: ClusterExposure = { cluster, exposure, removed: [], address: undefined };
	if (!exposure) return stays;
	refuseOtherClass(context.name, exposure, peers?.exposure);
	const current = listed.find((member) => member.id === id)?.address;
	if (!wanted) {
		// Continues an installation that ended before the Service had an address. If a listed member has no context here, its list cannot
		// be changed, so that waits for another run.
		const ids = new Set(found.map((each) => each.id));
		if (current !== undefined || listed.some((member) => !ids.has(member.id))) return stays;
	}
	const isThere = peers?.exposure.kind === exposure.kind && peers.offered.kind === "some";
	if (!isThere) return { ...stays, address: { kind: "awaited" } };
	return { ...stays, address: { kind: "known", address: chooseAddress(peers.offered, current).address } };
}

/** A Service that changes its type keeps its IP versions, unless the change names them. */
function inOneStack(wanted: Exposure | undefined, now: Exposure | undefined): Exposure | undefined {
	return wanted?.kind === "loadbalancer" && now?.kind === "nodeport" ? { ...wanted, isSingleStack: true } : wanted;
}

/** Refuses to change the class of an existing load balancer. The API server would refuse it too, with a less helpful message. */
function refuseOtherClass(context: string, wanted: Exposure, now: Exposure | undefined): void {
	if (wanted.kind !== "loadbalancer" || now?.kind !== "loadbalancer") return;
	if (wanted.loadBalancerClass === now.loadBalancerClass) return;
	throw new UsageError(
		`${context}: its load balancer has ${classText(now)}, and Kubernetes changes none to ${classText(wanted)}: nothing was touched`,
		`Let it be none in between: --expose=${context}=nodeport, then this again`,
	);
}

function classText({ loadBalancerClass }: Exposure): string {
	return loadBalancerClass === undefined ? "no class" : `class ${loadBalancerClass}`;
}

function refuseNoImage(): never {
	throw new UsageError(
		"the agents' image is not known: nothing was touched",
		"Name it with --image, as the clusters can pull it: REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:DIGEST",
	);
}
