// Returns a policy that rejects objects of an installation. No dry run foresees the rejection, because the objects' namespace does not
// exist yet.
import type { BareClusters } from "./bare-clusters.ts";
import { eventually } from "./kubectl.ts";

export interface Denied {
	readonly group: string;
	readonly resource: string;
	readonly namespace: string;
}

/**
 * Returns a policy that rejects new objects of this kind in the namespace. To show that it is in force, it also rejects a ConfigMap with
 * its name in "default".
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

/** An API server enforces a new policy after about a second. */
export async function inForce(bare: BareClusters, cluster: string, name: string): Promise<void> {
	await eventually(`policy ${name} to be in force in ${cluster}`, async () => refuses(bare, cluster, name));
}

/** An API server enforces a deleted policy for about another second. */
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
