import { setTimeout as delay } from "node:timers/promises";
import { type AgentPodObject, type AgentPorts, shippedPorts } from "../../demo/agents/agent-command.ts";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { applyPatch, isStatus, isTransient } from "../../demo/machine/api-client.ts";

const group = "kwok.x-k8s.io";
const version = "v1alpha1";

/**
 * Installs kwok's PortForward kind. Resolves when it is served: a starting kwok asks for the kind once, and then not for several seconds.
 */
export async function installPortForwards(client: ApiClient): Promise<void> {
	await client.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
		apiVersion: "apiextensions.k8s.io/v1",
		kind: "CustomResourceDefinition",
		metadata: { name: `portforwards.${group}` },
		spec: {
			group,
			scope: "Namespaced",
			names: { kind: "PortForward", listKind: "PortForwardList", plural: "portforwards", singular: "portforward" },
			versions: [
				{
					name: version,
					served: true,
					storage: true,
					subresources: { status: {} },
					schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
				},
			],
		},
	});
	while (!(await isServed(client))) {
		await delay(50);
	}
}

async function isServed(client: ApiClient): Promise<boolean> {
	try {
		await client.get(`/apis/${group}/${version}/portforwards`);
		return true;
	} catch (error) {
		if (!isStatus(error, 404) && !isTransient(error)) {
			throw error;
		}
		return false;
	}
}

/**
 * Creates a PortForward, so that `pods/portforward` reaches the pod's own address. `ports`: where its process listens there. The garbage
 * collector deletes the PortForward with the pod.
 */
export async function forwardPorts(
	client: ApiClient,
	pod: AgentPodObject,
	address: string,
	ports: AgentPorts = shippedPorts,
): Promise<void> {
	const { name, namespace, uid } = pod.metadata;
	const path = `/apis/${group}/${version}/namespaces/${namespace}/portforwards/${name}`;
	const object = {
		apiVersion: `${group}/${version}`,
		kind: "PortForward",
		metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }] },
		spec: {
			forwards: (["grpc", "peers", "http"] as const).map((name) => ({
				ports: [shippedPorts[name]],
				target: { address, port: ports[name] },
			})),
		},
	};
	// Applied, not created: for two seconds after a CRD is installed, the API server delays every creation of its objects.
	await client.send("PATCH", `${path}?fieldManager=xpdb-bench&force=true`, object, applyPatch);
}
