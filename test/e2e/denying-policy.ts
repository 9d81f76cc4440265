// A policy of somebody's own that refuses what an installation brings: of what goes into a namespace that is not there yet no dry run knows
// it.
import type { BareClusters } from "./bare-clusters.ts";
import { eventually } from "./kubectl.ts";

export interface Denied {
	readonly group: string;
	readonly resource: string;
	readonly namespace: string;
}

/** Refuses all new objects of that kind in that namespace, and a ConfigMap by the policy's name in default, by which it is seen to be in force. */
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

/** An API server takes it up about a second after it was made. */
export async function inForce(bare: BareClusters, cluster: string, name: string): Promise<void> {
	await eventually(`policy ${name} to be in force in ${cluster}`, async () => refuses(bare, cluster, name));
}

/** And obeys it for about a second after it is gone. */
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
