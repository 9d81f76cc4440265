// Makes the Kubernetes objects of situations, with as few fields as the API server accepts.
import type { KubernetesObject as AnyObject } from "../../support/apply-object.ts";

export interface KubernetesObject extends AnyObject {
	readonly metadata: AnyObject["metadata"] & { readonly [field: string]: unknown };
	readonly spec?: { readonly [field: string]: unknown };
	readonly [field: string]: unknown;
}

/** The names that a situation uses in a cluster. */
export interface Place {
	readonly namespace: string;
	/** Returns the name of the node "a", "b" and so on. */
	readonly node: (letter: string) => string;
}

/** Labels all objects without a namespace, so that clear() finds them. */
export const parityLabel = { "xpdb.form3.tech/parity": "true" };
/** Only pods of situations run on these nodes: others do not tolerate the taint. */
export function node(name: string, labels: Readonly<Record<string, string>>): KubernetesObject {
	return {
		apiVersion: "v1",
		kind: "Node",
		metadata: {
			name,
			labels: { ...parityLabel, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ...labels },
		},
		spec: { taints: [{ key: "parity", effect: "NoSchedule" }] },
	};
}

export function namespace(name: string): KubernetesObject {
	return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: parityLabel } };
}

export interface PodOptions {
	/** The node's letter, by default "a". */
	readonly node?: string;
	readonly labels?: Readonly<Record<string, string>>;
	readonly annotations?: Readonly<Record<string, string>>;
	readonly emptyDir?: boolean;
	readonly graceSeconds?: number;
	readonly controller?: { readonly apiVersion: string; readonly kind: string; readonly name: string };
}

/** Keeps a pod terminating until the test lets it end. */
export const hang: PodOptions = { annotations: { "bench/stop": "hang" } };

const containers = [{ name: "main", image: "example.com/main:1" }];
const tolerations = [{ key: "parity", operator: "Exists" }];

function podSpec({ emptyDir, graceSeconds }: PodOptions): object {
	return {
		containers,
		tolerations,
		...(emptyDir && { volumes: [{ name: "scratch", emptyDir: {} }] }),
		...(graceSeconds !== undefined && { terminationGracePeriodSeconds: graceSeconds }),
	};
}

export function pod(place: Place, name: string, options: PodOptions = {}): KubernetesObject {
	const { node: letter = "a", labels = {}, annotations = {}, controller } = options;
	const owner = controller && { ...controller, uid: "00000000-0000-4000-8000-000000000001", controller: true };
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: {
			name,
			namespace: place.namespace,
			labels,
			annotations,
			...(owner && { ownerReferences: [owner] }),
		},
		spec: { ...podSpec(options), nodeName: place.node(letter) },
	};
}

function workload(place: Place, kind: string, name: string, options: PodOptions & { readonly replicas?: number }) {
	const { node: letter = "a", labels = {}, annotations = {}, replicas } = options;
	const own = { app: name };
	return {
		apiVersion: "apps/v1",
		kind,
		metadata: { name, namespace: place.namespace },
		spec: {
			...(replicas !== undefined && { replicas }),
			selector: { matchLabels: own },
			template: {
				metadata: { labels: { ...own, ...labels }, annotations },
				spec: { ...podSpec(options), nodeSelector: { "kubernetes.io/hostname": place.node(letter) } },
			},
		},
	};
}

/** Its pods run on one node, so the replacement of an evicted pod finds no node. */
export function statefulSet(place: Place, name: string, replicas: number, options: PodOptions = {}): KubernetesObject {
	const object = workload(place, "StatefulSet", name, { ...options, replicas });
	return { ...object, spec: { ...object.spec, serviceName: name, podManagementPolicy: "Parallel" } };
}

export function deployment(place: Place, name: string, replicas: number, options: PodOptions = {}): KubernetesObject {
	return workload(place, "Deployment", name, { ...options, replicas });
}

export function daemonSet(place: Place, name: string, options: PodOptions = {}): KubernetesObject {
	return workload(place, "DaemonSet", name, options);
}

/** Returns a budget over the pods of the workload `app`. */
export function budget(place: Place, app: string, spec: object, name = app): KubernetesObject {
	return {
		apiVersion: "policy/v1",
		kind: "PodDisruptionBudget",
		metadata: { name, namespace: place.namespace },
		spec: { selector: { matchLabels: { app } }, ...spec },
	};
}

export interface PolicyOptions {
	readonly resource: "pods" | "pods/eviction" | "nodes";
	readonly operation: "CREATE" | "UPDATE" | "DELETE";
	/** A CEL expression. Requests are refused unless it is true. */
	readonly expression: string;
	readonly message: string;
	/** Whether the policy only warns. It still refuses dry runs, to show that it is in force. */
	readonly warns?: boolean;
}

/** Returns a policy for the situation's namespace or nodes. */
export function admissionPolicy(place: Place, options: PolicyOptions): readonly KubernetesObject[] {
	const { warns = false, ...policy } = options;
	const name = place.namespace;
	if (!warns) return policyWithBinding(place, name, "Deny", policy);
	const isDryRun =
		options.resource === "pods/eviction"
			? "has(object.deleteOptions) && has(object.deleteOptions.dryRun)"
			: "request.dryRun";
	return [
		...policyWithBinding(place, name, "Warn", policy),
		...policyWithBinding(place, `${name}-dry-run`, "Deny", { ...policy, expression: `!(${isDryRun})` }),
	];
}

function policyWithBinding(
	place: Place,
	name: string,
	action: "Deny" | "Warn",
	{ resource, operation, expression, message }: Omit<PolicyOptions, "warns">,
): readonly KubernetesObject[] {
	const ofThisPlace =
		resource === "nodes"
			? { matchConditions: [{ name: "own", expression: `object.metadata.name.startsWith("${place.namespace}-")` }] }
			: {};
	const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": place.namespace } };
	return [
		{
			apiVersion: "admissionregistration.k8s.io/v1",
			kind: "ValidatingAdmissionPolicy",
			metadata: { name, labels: parityLabel },
			spec: {
				failurePolicy: "Fail",
				...ofThisPlace,
				matchConstraints: {
					resourceRules: [
						{
							apiGroups: [""],
							apiVersions: ["v1"],
							operations: [operation],
							resources: [resource],
						},
					],
					...(resource !== "nodes" && { namespaceSelector }),
				},
				validations: [{ expression, message }],
			},
		},
		{
			apiVersion: "admissionregistration.k8s.io/v1",
			kind: "ValidatingAdmissionPolicyBinding",
			metadata: { name, labels: parityLabel },
			spec: { policyName: name, validationActions: [action] },
		},
	];
}

export function evictionWebhook(place: Place, url: string, caBundle: string): KubernetesObject {
	return {
		apiVersion: "admissionregistration.k8s.io/v1",
		kind: "ValidatingWebhookConfiguration",
		metadata: { name: place.namespace, labels: parityLabel },
		webhooks: [
			{
				name: "evictions.example.com",
				clientConfig: { url, caBundle },
				rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods/eviction"] }],
				namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": place.namespace } },
				failurePolicy: "Fail",
				sideEffects: "None",
				admissionReviewVersions: ["v1"],
				timeoutSeconds: 5,
			},
		],
	};
}

export function viewer(place: Place, user: string): readonly KubernetesObject[] {
	const apiGroup = "rbac.authorization.k8s.io";
	const metadata = { name: place.namespace, labels: parityLabel };
	return [
		{
			apiVersion: `${apiGroup}/v1`,
			kind: "ClusterRole",
			metadata,
			rules: [{ apiGroups: [""], resources: ["nodes", "pods"], verbs: ["get", "list"] }],
		},
		{
			apiVersion: `${apiGroup}/v1`,
			kind: "ClusterRoleBinding",
			metadata,
			roleRef: { apiGroup, kind: "ClusterRole", name: place.namespace },
			subjects: [{ apiGroup, kind: "User", name: user }],
		},
	];
}
