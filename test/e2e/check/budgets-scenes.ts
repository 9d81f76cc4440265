// Scenes of budgets that cannot be judged, differ, can never be met, are suspended or protect no pod, and of agents that refuse to judge a
// budget: codes 22xx, 23xx and 1303.
import { randomBytes } from "node:crypto";
import { budgetAnnotation, leaseName, namespaceLabel } from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import { getJson } from "../get-json.ts";
import { apply, eventually, inTheAgentsName, kubectl } from "../kubectl.ts";
import { removeNamespace } from "../remove-namespace.ts";
import { storeBudgetIn } from "../store-budget.ts";
import type { Provocation, Scene } from "./provocation.ts";
import { everywhere, typeCommand } from "./run-check.ts";

const own = randomBytes(3).toString("hex");
const nothing = async (): Promise<void> => undefined;

interface WrongBudget extends Pick<Provocation, "reason" | "fault" | "says" | "cluster"> {
	readonly name: string;
	readonly spec: (cluster: string) => object;
	/** Whether the CRD rejects it. The test then stores it without the CRD's validation. */
	readonly isInvalid?: boolean;
	/** Further objects that a cluster needs. */
	readonly objects?: (cluster: string) => Promise<readonly object[]>;
	readonly fix: string;
	readonly fixCode?: number;
}

const namespace = `check-${own}`;
const selecting = (app: string) => ({ selector: { matchLabels: { app } } });
const one = { maxUnavailable: 1 };
const see = (words: string): string => `kubectl ${words} --context c1-operator`;
const explain = (name: string): string => see(`xpdb explain ${name} -n ${namespace}`);

function pod(name: string, metadata: object = {}): object {
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: { name, namespace, labels: { app: name }, ...metadata },
		spec: { containers: [{ name: "c", image: "example.com/c:1" }] },
	};
}

async function podOfConfigMap(cluster: string): Promise<object> {
	const metadata = { name: "owner", namespace };
	await apply([cluster], [{ apiVersion: "v1", kind: "ConfigMap", metadata }]);
	const path = `/api/v1/namespaces/${namespace}/configmaps/owner`;
	const { uid } = (await getJson<{ readonly metadata: { readonly uid: string } }>(cluster, path)).metadata;
	return pod("odd", {
		ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, controller: true }],
	});
}

/** Creates a StatefulSet whose pod has another label than its template. */
async function moveStatefulSet(cluster: string): Promise<void> {
	const labels = { set: "moved", app: "moved" };
	const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "example.com/c:1" }] } };
	const spec = { replicas: 1, serviceName: "moved", selector: { matchLabels: { set: "moved" } }, template };
	await apply(
		[cluster],
		[{ apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "moved", namespace }, spec }],
	);
	// The controller may not have created the pod yet.
	await eventually("a pod of the StatefulSet to be there", async () => {
		const label = ["label", "pod", "moved-0", "-n", namespace, "app=elsewhere", "--overwrite"];
		return kubectl(cluster, label).then(
			() => true,
			() => false,
		);
	});
}

const wrongBudgets: readonly WrongBudget[] = [
	{
		reason: "BudgetsDiffer",
		fault: "a budget with another bound in one cluster",
		name: "looser",
		spec: (cluster) => ({ maxUnavailable: cluster === "c2" ? 2 : 1, ...selecting("owned") }),
		says: `budget ${namespace}/looser: c2: maxUnavailable 2, elsewhere maxUnavailable 1`,
		fix: see(`xpdb budgets looser -n ${namespace} -o wide`),
	},
	{
		reason: "BudgetNeverMet",
		fault: "a budget that lets no pod go",
		name: "strict",
		spec: () => ({ maxUnavailable: 0, ...selecting("owned") }),
		says: `budget ${namespace}/strict with maxUnavailable 0 needs 3 healthy of 3 expected pods`,
		fix: explain("budget/strict"),
		fixCode: 3,
	},
	{
		reason: "BudgetSuspended",
		fault: "a budget that is suspended everywhere",
		name: "off",
		spec: () => ({ ...one, ...selecting("owned"), suspend: true }),
		says: `budget ${namespace}/off is suspended and blocks no eviction, it does not say by whom`,
		// The command asks for a confirmation, which fails without a terminal.
		fix: `kubectl xpdb unsuspend off -n ${namespace} --contexts=c1-operator,c2-operator,c3-operator`,
		fixCode: 1,
	},
	{
		reason: "BudgetSelectsNothing",
		fault: "a budget whose pods are not there",
		name: "idle",
		spec: () => ({ ...one, ...selecting("none") }),
		says: `budget ${namespace}/idle selects no pod in any cluster: it keeps nothing`,
		fix: see(`get xpdb idle -n ${namespace} -o yaml`),
	},
	{
		reason: "PodsWithoutOwner",
		fault: "a pod that no controller owns",
		cluster: "c1-operator",
		name: "bare",
		spec: () => ({ ...one, ...selecting("alone") }),
		objects: async (cluster) => (cluster === "c1" ? [pod("alone")] : []),
		says: `budget ${namespace}/bare never lets ${namespace}/alone go: no controller says how many of them there should be`,
		fix: explain("pod/alone"),
		fixCode: 3,
	},
	{
		reason: "PodsMislabelled",
		fault: "a pod with another label than its template has",
		name: "moved",
		spec: () => ({ ...one, ...selecting("moved") }),
		async objects(cluster) {
			if (cluster === "c1") await moveStatefulSet(cluster);
			return [];
		},
		says: `budget ${namespace}/moved expects pods that it does not select; StatefulSet ${namespace}/moved in cluster c1 wants 1, but 1 of its pods has labels that the budget does not select`,
		fix: explain("budget/moved"),
		fixCode: 5,
	},
	{
		reason: "InvalidBudget",
		fault: "a budget with both bounds",
		name: "both",
		isInvalid: true,
		spec: () => ({ ...one, minAvailable: 1, ...selecting("owned") }),
		says: `budget ${namespace}/both in cluster c`,
		fix: explain("budget/both"),
		fixCode: 3,
	},
	{
		reason: "SelectorsDiffer",
		fault: "a budget with another selector in one cluster",
		name: "split",
		spec: (cluster) => ({ ...one, ...selecting(cluster === "c1" ? "x" : "y") }),
		says: `budget ${namespace}/split selects "app=`,
		fix: explain("budget/split"),
		fixCode: 3,
	},
	{
		reason: "FeatureMissing",
		fault: "a budget with a probe",
		name: "probed",
		spec: () => ({ ...one, probe: { enabled: true, endpoint: "probe.example.com" }, ...selecting("owned") }),
		says: /^budget \S+\/probed in cluster c\d uses spec\.probe, which the agents of c1, c2, c3 do not support$/,
		fix: explain("budget/probed"),
		fixCode: 3,
	},
	{
		reason: "ExpectedPodsUnknown",
		fault: "a pod whose controller has no scale",
		name: "odd",
		spec: () => ({ ...one, ...selecting("odd") }),
		objects: async (cluster) => (cluster === "c3" ? [await podOfConfigMap(cluster)] : []),
		says: `budget ${namespace}/odd with maxUnavailable 1 needs the number of expected pods, but in cluster c3 pod ${namespace}/odd is controlled by ConfigMap "owner", which has no scale`,
		fix: explain("budget/odd"),
		fixCode: 3,
	},
];

const clusters = ["c1", "c2", "c3"];

function budget(name: string, place: string, spec: object): object {
	const metadata = { name, namespace: place };
	return { apiVersion: "x-pdb.form3.tech/v1alpha1", kind: "XPodDisruptionBudget", metadata, spec };
}

async function applyWrong({ name, spec, isInvalid = false, objects }: WrongBudget): Promise<void> {
	await Promise.all(
		clusters.map(async (cluster) => {
			if (isInvalid) await storeBudgetIn([cluster], { namespace, name, spec: spec(cluster) });
			const applied = isInvalid ? [] : [budget(name, namespace, spec(cluster))];
			await apply([cluster], [...applied, ...((await objects?.(cluster)) ?? [])]);
		}),
	);
}

/** Creates the namespace, with a ready pod in each cluster: a pod that still starts would cause another finding. */
async function openNamespace(name: string): Promise<void> {
	const labels = { app: "owned" };
	const containers = [{ name: "c", image: "example.com/c:1" }];
	const template = { metadata: { labels }, spec: { containers } };
	await apply(clusters, [
		{ apiVersion: "v1", kind: "Namespace", metadata: { name } },
		{
			apiVersion: "apps/v1",
			kind: "Deployment",
			metadata: { name: "owned", namespace: name },
			spec: { replicas: 1, selector: { matchLabels: labels }, template },
		},
	]);
	const ready = ["rollout", "status", "deployment/owned", "-n", name, "--timeout=2m"];
	await Promise.all(clusters.map((cluster) => kubectl(cluster, ready)));
}

async function deleteBudgets(): Promise<void> {
	await Promise.all(clusters.map((cluster) => kubectl(cluster, ["delete", "xpdb", "--all", "-n", namespace])));
}

/** The rows share one namespace, which the first one creates and deletes. */
const wrongRows = wrongBudgets.map(
	({ name: _name, spec: _spec, isInvalid: _isInvalid, objects: _objects, ...row }, index): Provocation =>
		index > 0
			? { ...row, provoke: nothing, end: nothing }
			: {
					...row,
					async provoke() {
						await openNamespace(namespace);
						await Promise.all(wrongBudgets.map(applyWrong));
					},
					mend: deleteBudgets,
					end: () => removeNamespace(clusters, namespace),
				},
);

async function openWithBudget(name: string): Promise<void> {
	await openNamespace(name);
	await apply(clusters, [budget("good", name, { ...one, ...selecting("owned") })]);
}

const refusing = `check-refused-${own}`;
const explainRefusing = `kubectl xpdb explain budget/good -n ${refusing} --context c1-operator`;
const decides = { name: "xpdb-operator", path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/xpdb-operator" };
let rules: unknown;

async function giveRules(wanted: unknown, role = decides.name): Promise<void> {
	const patch = JSON.stringify({ rules: wanted });
	await kubectl("c2", ["patch", "clusterrole", role, "--type=merge", "-p", patch]);
}

const refused: Provocation = {
	reason: "AgentRefused",
	fault: "an operators' account that may decide about no budget in one cluster",
	async provoke() {
		await openWithBudget(refusing);
		// Agents see the new pods a moment later.
		await eventually("the agents to count all pods", async () => (await typeCommand(explainRefusing)).code === 0);
		rules = (await getJson<{ readonly rules: unknown }>("c2", decides.path)).rules;
		await giveRules([]);
	},
	says: new RegExp(`^cannot count budget ${refusing}/good in cluster c2: .* may not acquire `),
	// Succeeds, because the agents of c1 forward the command's calls, and agents of c2 do not check the operator's rights for forwarded
	// calls.
	fix: explainRefusing,
	mend: () => giveRules(rules),
	async end() {
		if (rules !== undefined) await giveRules(rules);
		await removeNamespace(clusters, refusing);
	},
};

const garbling = `check-garbled-${own}`;
const lease = leaseName({ namespace: garbling, name: "good" });

async function deleteLease(): Promise<void> {
	await kubectl("c3", ["delete", "lease", lease, "-n", "xpdb-system", "--ignore-not-found", ...inTheAgentsName]);
}

const garbled: Provocation = {
	reason: "GarbledLease",
	fault: "a Lease whose state is no JSON",
	async provoke() {
		await openWithBudget(garbling);
		const metadata = {
			name: lease,
			namespace: "xpdb-system",
			labels: { "app.kubernetes.io/managed-by": "xpdb-agent", [namespaceLabel]: garbling },
			annotations: { [budgetAnnotation]: `${garbling}/good`, [stateAnnotation]: "not-json" },
		};
		const object = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: {} };
		await kubectl("c3", ["create", "-f", "-", ...inTheAgentsName], JSON.stringify(object));
	},
	says: `cannot read Lease "${lease}" of budget "${garbling}/good" in cluster "c3"`,
	fix: `kubectl xpdb explain budget/good -n ${garbling} --context c1-operator`,
	fixCode: 3,
	mend: deleteLease,
	async end() {
		await deleteLease();
		await removeNamespace(clusters, garbling);
	},
};

const unlisting = `check-unlisted-${own}`;
const agentRole = { name: "xpdb-agent", path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/xpdb-agent" };

interface AgentRule {
	readonly resources: readonly string[];
	readonly verbs: readonly string[];
}

let agentRules: readonly AgentRule[] | undefined;

/** Leaves the agent no right to workloads but `get`, as in version 0.1. */
const unlisted: Provocation = {
	reason: "WorkloadsNotListed",
	fault: "an agent that may not list workloads",
	async provoke() {
		await openWithBudget(unlisting);
		agentRules = (await getJson<{ readonly rules: readonly AgentRule[] }>("c2", agentRole.path)).rules;
		const narrowed = agentRules.map((rule) =>
			rule.resources.includes("deployments") ? { ...rule, verbs: ["get"] } : rule,
		);
		await giveRules(narrowed, agentRole.name);
	},
	says: new RegExp(
		`^budget ${unlisting}/good with maxUnavailable 1 needs .* in cluster c2 its agent may not list the workloads `,
	),
	fix: `kubectl xpdb explain budget/good -n ${unlisting} --context c1-operator`,
	fixCode: 3,
	mend: () => giveRules(agentRules, agentRole.name),
	async end() {
		if (agentRules !== undefined) await giveRules(agentRules, agentRole.name);
		await removeNamespace(clusters, unlisting);
	},
};

/** If a budget cannot be judged, dependent checks report NotChecked. */
const besides = ["NotChecked"] as const;

export const budgetsScenes: readonly Scene[] = [
	{ name: "budgets that are wrong", args: [...everywhere, "-n", namespace], rows: wrongRows, besides },
	{ name: "agents that judge nothing for us", args: [...everywhere, "-n", refusing], rows: [refused], besides },
	{ name: "an agent without rights", args: [...everywhere, "-n", unlisting], rows: [unlisted], besides },
	{ name: "a Lease that cannot be read", args: [...everywhere, "-n", garbling], rows: [garbled], besides },
];
