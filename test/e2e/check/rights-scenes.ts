// Scenes of a user who lacks one right of each kind, of an administrator who lacks one that an installation needs, and of a namespace that
// is being deleted: codes 12xx and 1001.
import { randomBytes } from "node:crypto";
import { getJson } from "../get-json.ts";
import { apply, kubectl } from "../kubectl.ts";
import type { Provocation, Scene } from "./provocation.ts";

interface Rule {
	readonly apiGroups: readonly string[];
	readonly resources: readonly string[];
	readonly verbs: readonly string[];
	readonly resourceNames?: readonly string[];
}

const cluster = "c1";
const agents = "xpdb-system";
const rbac = "rbac.authorization.k8s.io";
const shippedRole = "xpdb-operators";
const own = randomBytes(3).toString("hex");

const erin = `erin-${own}`;
const asErin = ["--context", cluster, "--as", erin];
const bindRole = `kubectl create rolebinding ${shippedRole}-${erin} -n ${agents} --role=${shippedRole} --user=${erin} --context ${cluster}`;
const bindClusterRole = `kubectl create clusterrolebinding ${shippedRole}-${erin} --clusterrole=${shippedRole} --user=${erin} --context ${cluster}`;

/** Gives the user the rules of the shipped role, except those about the dropped resources. */
async function withoutRightsTo(person: string, dropped: readonly string[], namespace?: string): Promise<void> {
	const kind = namespace === undefined ? "ClusterRole" : "Role";
	const folder = namespace === undefined ? "clusterroles" : `namespaces/${namespace}/roles`;
	const { rules } = await getJson<{ readonly rules: readonly Rule[] }>(
		cluster,
		`/apis/${rbac}/v1/${folder}/${shippedRole}`,
	);
	const kept = rules.filter(({ resources }) => !resources.some((resource) => dropped.includes(resource)));
	if (rules.length - kept.length !== dropped.length) throw new Error(`${shippedRole} has other rules than it had`);
	await bindTo(person, { kind, rules: kept, ...(namespace !== undefined && { namespace }) });
}

async function bindTo(
	person: string,
	{ kind, rules, namespace }: { readonly kind: string; readonly rules: readonly Rule[]; readonly namespace?: string },
): Promise<void> {
	const metadata = { name: person, ...(namespace !== undefined && { namespace }) };
	const apiVersion = `${rbac}/v1`;
	const binding = {
		apiVersion,
		kind: `${kind}Binding`,
		metadata,
		roleRef: { apiGroup: rbac, kind, name: person },
		subjects: [{ apiGroup: rbac, kind: "User", name: person }],
	};
	await apply([cluster], [{ apiVersion, kind, metadata, rules }, binding]);
}

/** Deletes the user's roles and bindings, and those that the suggested commands created. */
async function takeBindings(person: string): Promise<void> {
	const gone = ["--ignore-not-found"];
	const names = [person, `${shippedRole}-${person}`];
	await kubectl(cluster, ["delete", "clusterrolebinding", ...names, ...gone]);
	await kubectl(cluster, ["delete", "clusterrole", person, ...gone]);
	await kubectl(cluster, ["delete", "rolebinding", ...names, "-n", agents, ...gone]);
	await kubectl(cluster, ["delete", "role", person, "-n", agents, ...gone]);
}

const inAnchor = () => withoutRightsTo(erin, ["serviceaccounts/token", "pods/portforward"], agents);
const everywhere = () =>
	withoutRightsTo(erin, ["nodes", "pods/eviction", "poddisruptionbudgets", "validatingadmissionpolicies"]);
const nothing = async (): Promise<void> => undefined;

const erinsRows: readonly Provocation[] = (
	[
		{
			reason: "ReachRightMissing",
			fault: "no right to port-forward",
			provoke: inAnchor,
			lacks: `create pods/portforward in namespace ${agents}; get pods/portforward in namespace ${agents}`,
			fix: bindRole,
		},
		{
			reason: "TokenRightMissing",
			fault: "no right to tokens of the operators' account",
			provoke: nothing,
			lacks: `create serviceaccounts/token "xpdb-operator" in namespace ${agents}`,
			fix: bindRole,
		},
		{
			reason: "EvictRightMissing",
			fault: "no right to evict",
			provoke: everywhere,
			lacks: "create pods/eviction",
			fix: bindClusterRole,
		},
		{
			reason: "DrainRightMissing",
			fault: "no right to nodes",
			provoke: nothing,
			lacks: "get nodes; list nodes; patch nodes",
			fix: bindClusterRole,
		},
		{
			reason: "ReadRightMissing",
			fault: "no right to PodDisruptionBudgets",
			provoke: nothing,
			lacks: "list poddisruptionbudgets.policy",
			fix: bindClusterRole,
		},
	] as const
).map(({ lacks, ...row }) => ({
	...row,
	cluster,
	says: new RegExp(`^user "${erin}" may not ${lacks.replaceAll(".", "\\.")}$`),
	mend: "fix" as const,
	end: row.provoke === nothing ? nothing : () => takeBindings(erin),
}));

/** Suggests no command: the role that the other findings suggest contains the right. */
const unread: Provocation = {
	reason: "NotChecked",
	fault: "no right to the agents' policies",
	cluster,
	provoke: nothing,
	says: `User "${erin}" cannot get resource "validatingadmissionpolicies"`,
	mend: "fix",
	end: nothing,
};

const frank = `frank-${own}`;
const asFrank = ["--pre", "--context", cluster, "--as", frank];
/** All rights that an installation needs, except to change Secrets. */
const allButSecrets: readonly Rule[] = [
	{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "create", "delete", "escalate", "bind"] },
	{
		apiGroups: ["*"],
		resources: [
			"namespaces",
			"configmaps",
			"services",
			"serviceaccounts",
			"customresourcedefinitions",
			"validatingadmissionpolicies",
			"validatingadmissionpolicybindings",
			"clusterroles",
			"clusterrolebindings",
			"roles",
			"rolebindings",
			"networkpolicies",
			"poddisruptionbudgets",
			"deployments",
		],
		verbs: ["patch"],
	},
];

const ending = `check-ends-${own}`;
const keep = { name: "kept", namespace: ending };

export const rightsScenes: readonly Scene[] = [
	{
		name: "one right of each kind is missing",
		args: asErin,
		rows: [...erinsRows, unread],
		besides: ["AgentSilent"],
		// The check covers the whole cluster, so it also finds budgets that other suites left behind.
		always: ["MemberWithoutContext", "NotChecked", "BudgetsDiffer", "BudgetSelectsNothing"],
	},
	{
		name: "before an installation a right is missing, and agents are there",
		args: asFrank,
		rows: [
			{
				reason: "InstallRightMissing",
				fault: "no right to change Secrets",
				cluster,
				provoke: () => bindTo(frank, { kind: "ClusterRole", rules: allButSecrets }),
				says: new RegExp(`^user "${frank}" may not patch secrets in namespace ${agents}$`),
				fix: `kubectl auth can-i --list --context ${cluster} --as=${frank}`,
				mend: () =>
					bindTo(frank, { kind: "ClusterRole", rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] }),
				end: () => takeBindings(frank),
			},
		],
		always: ["AgentsThere"],
	},
	{
		name: "the agents' namespace is being deleted",
		args: ["--pre", "--context", cluster, "--agent-namespace", ending],
		rows: [
			{
				reason: "NamespaceEnding",
				fault: "a namespace whose last object has a finalizer",
				cluster,
				provoke: async () => {
					const kept = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...keep, finalizers: ["example.com/keep"] } };
					await kubectl(cluster, ["create", "namespace", ending]);
					await apply([cluster], [kept]);
					await kubectl(cluster, ["delete", "namespace", ending, "--wait=false"]);
				},
				says: `namespace ${ending} is being deleted: nothing can be made in it until it is gone`,
				fix: `kubectl get namespace ${ending} -o yaml --context ${cluster}`,
				end: async () => {
					const letGo = '{"metadata":{"finalizers":null}}';
					const inPlace = ["configmap", keep.name, "-n", ending];
					const there = await kubectl(cluster, ["get", ...inPlace, "-o", "name", "--ignore-not-found"]);
					if (there !== "") await kubectl(cluster, ["patch", ...inPlace, "--type=merge", "-p", letGo]);
				},
			},
		],
		always: ["ForeignAgentPods"],
	},
];
