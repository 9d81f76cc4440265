// Creates the objects that a cluster has before the first request.
import { timestamp } from "./api-object.ts";
import type { ControllerHost } from "./controllers/controller.ts";

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

export function createBootstrapObjects(host: ControllerHost): void {
	const client = host.as("system:apiserver", ["system:masters"]);
	for (const name of namespaces) {
		client.create("namespaces", "", { metadata: { name, labels: { "kubernetes.io/metadata.name": name } } });
		client.create("serviceaccounts", name, { metadata: { name: "default" } });
	}
}

const room = { cpu: "32", memory: "64Gi", pods: "200" };

export function createNodes(
	host: ControllerHost,
	cluster: string,
	{ count, address }: { readonly count: number; readonly address: string },
): void {
	const client = host.as("system:node-admin", ["system:masters"]);
	for (let number = 0; number < count; number++) {
		const name = `${cluster}-n${number}`;
		const labels = {
			"kubernetes.io/hostname": name,
			"kubernetes.io/os": "linux",
			"kubernetes.io/arch": "amd64",
			"topology.kubernetes.io/zone": `${cluster}-z${number}`,
		};
		const node = client.create("nodes", "", { metadata: { name, labels }, spec: {} });
		client.setStatus("nodes", node, {
			capacity: room,
			allocatable: room,
			conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", lastTransitionTime: timestamp() }],
			addresses: [{ type: "InternalIP", address }],
			nodeInfo: { kubeletVersion: "v1.36.3-small", operatingSystem: "linux", architecture: "amd64" },
		});
	}
}
