// Lists objects of other owners that obstruct an installation, with the plan's messages about them.

export interface ForeignObjects {
	readonly name: string;
	/** By cluster, in order of creation. The objects have a field manager of their own. */
	readonly objects: Readonly<Record<string, readonly object[]>>;
	/** Objects, as "namespace/NAME" by cluster, that only a finalizer still keeps. */
	readonly terminating?: Readonly<Record<string, string>>;
	/** Without these flags, the installation would first fail on conflicts of field managers. */
	readonly flags?: readonly string[];
	/** The messages about these objects, in any order. */
	readonly says: readonly RegExp[];
}

const anchor = { apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } };
const inAnchor = (name: string) => ({ name, namespace: "xpdb-system" });
const rbac = "rbac.authorization.k8s.io";

const rubbishAuthority = {
	apiVersion: "v1",
	kind: "Secret",
	metadata: inAnchor("xpdb-fleet-ca"),
	stringData: { note: "the CA is in the safe" },
};

const otherAgents = {
	apiVersion: "apps/v1",
	kind: "Deployment",
	metadata: inAnchor("xpdb-agent"),
	spec: {
		selector: { matchLabels: { app: "other" } },
		template: {
			metadata: { labels: { app: "other" } },
			spec: { containers: [{ name: "agent", image: "example.com/other:1" }] },
		},
	},
};

export const foreignObjects: readonly ForeignObjects[] = [
	{
		name: "a list of members that nobody can read",
		objects: {
			c1: [
				anchor,
				{ apiVersion: "v1", kind: "ConfigMap", metadata: inAnchor("xpdb-fleet"), data: { members: "eu, us" } },
			],
		},
		says: [
			/c1: its ConfigMap xpdb-fleet cannot be used, so the members of the fleet are unknown/,
			/See 'kubectl get configmap xpdb-fleet -A -o yaml --context c1'/,
		],
	},
	{
		name: "Secrets with the CA's name and no CA in them, in both clusters",
		objects: { c1: [anchor, rubbishAuthority], c2: [anchor, rubbishAuthority] },
		says: ["c1", "c2"].map(
			(name) => new RegExp(`${name}: Secret xpdb-system/xpdb-fleet-ca has no CA with its key in it`),
		),
	},
	{
		name: "a binding of another role, and another Deployment",
		objects: {
			c1: [
				{
					apiVersion: `${rbac}/v1`,
					kind: "ClusterRoleBinding",
					metadata: { name: "xpdb-agent" },
					roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "view" },
				},
			],
			c2: [anchor, otherAgents],
		},
		flags: ["--force-conflicts"],
		says: [
			/c1: cannot apply clusterrolebinding\.rbac\.authorization\.k8s\.io\/xpdb-agent, which is there and cannot become ours: /,
			/c2: cannot apply deployment\.apps\/xpdb-agent, which is there and cannot become ours: /,
			/See who owns it with 'kubectl get deployment\.apps\/xpdb-agent -n xpdb-system -o yaml --context c2'/,
		],
	},
	{
		name: "a namespace that is on its way out, and a Secret of another type",
		objects: {
			c1: [{ ...anchor, metadata: { ...anchor.metadata, finalizers: ["example.com/keep"] } }],
			c2: [
				anchor,
				{ apiVersion: "v1", kind: "Secret", metadata: inAnchor("xpdb-agent-tls"), stringData: { pem: "of somebody" } },
			],
		},
		terminating: { c1: "namespace/xpdb-system" },
		flags: ["--force-conflicts"],
		says: [
			/c1: namespace\/xpdb-system is being deleted/,
			/c2: cannot apply secret\/xpdb-agent-tls, which is there and cannot become ours: /,
		],
	},
	{
		name: "a role and a Service whose fields others keep",
		objects: {
			c1: [
				{
					apiVersion: `${rbac}/v1`,
					kind: "ClusterRole",
					metadata: { name: "xpdb-operators" },
					rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
				},
			],
			c2: [
				anchor,
				{
					apiVersion: "v1",
					kind: "Service",
					metadata: inAnchor("xpdb-agent"),
					spec: { selector: { app: "other" }, ports: [{ name: "grpc", port: 8443, targetPort: 1 }] },
				},
			],
		},
		says: [
			/fields that would change are managed by others \(! above\): c1: clusterrole\.rbac\.authorization\.k8s\.io\/xpdb-operators, c2: service\/xpdb-agent: nothing was touched/,
			/Take them over with --force-conflicts/,
		],
	},
];
