// Creates a policy that refuses objects of an installation. A dry run cannot foresee it, because the namespace does not exist yet.
import type { BareClusters } from "./bare-clusters.ts";
import { eventually } from "./kubectl.ts";

export interface Denied {
	readonly group: string;
	readonly resource: string;
	readonly namespace: string;
}

/**
 * Returns a policy that refuses all new objects of that kind in that namespace. It also refuses a ConfigMap with the policy's name in the
 * namespace "default", which shows whether it is in force.
 */
export function denyingPolicy(name: string, { group, resource, namespace }: Denied): readonly object[] {
	const object = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name } };
	const rule = { apiVersions: ["*"], operations: ["CREATE"] };
	return [
		{
			...object,
			kind: "ValidatingAdmissionPolicy",
			spec: {
				failurePolicy: "Fail",
				matchConstraints: {
					resourceRules: [
						{ ...rule, apiGroups: [group], resources: [resource] },
						{ ...rule, apiGroups: [""], resources: ["configmaps"], resourceNames: [name] },
					],
				},
				validations: [{ expression: `!(request.namespace in ['${namespace}', 'default'])`, message: name }],
			},
		},
		{
			...object,
			kind: "ValidatingAdmissionPolicyBinding",
			spec: { policyName: name, validationActions: ["Deny"] },
		},
	];
}

/** Waits until the policy is in force. An API server enforces it about a second after it was created. */
export async function inForce(bare: BareClusters, cluster: string, name: string): Promise<void> {
	await eventually(`policy ${name} to be in force in ${cluster}`, async () => refuses(bare, cluster, name));
}

/** Waits until the policy is no longer in force. An API server enforces it for about a second after it was deleted. */
export async function outOfForce(bare: BareClusters, cluster: string, name: string): Promise<void> {
	await eventually(`policy ${name} to be forgotten in ${cluster}`, async () => !refuses(bare, cluster, name));
}

function refuses({ kubectl }: BareClusters, cluster: string, name: string): boolean {
	try {
		kubectl(cluster, ["create", "configmap", name, "-n", "default", "--dry-run=server"]);
		return false;
	} catch (error) {
		if (String(error).includes(name)) return true;
		throw error;
	}
}
