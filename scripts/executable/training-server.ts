// An API server of a few answers, for the build alone: what calls of the plugin do with answers is compiled then, and not at each start.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { rootCertificates } from "node:tls";

const account = "/api/v1/namespaces/xpdb-system/serviceaccounts/xpdb-operator/token";
const agents = "/api/v1/namespaces/xpdb-system/pods";
const pod = "/api/v1/namespaces/default/pods/pod";

/** It has a node "node" with a pod "pod", which is gone when it was evicted. With an agent, whose connections it refuses. */
export async function startTrainingServer({
	hasAgent,
}: {
	readonly hasAgent: boolean;
}): Promise<{ readonly address: string; close(): void }> {
	let isEvicted = false;
	const answers: Readonly<Record<string, () => object | undefined>> = {
		"/api/v1/namespaces/kube-system": () => ({ metadata: { name: "kube-system", uid: "uid" } }),
		"/api/v1/namespaces/xpdb-system/configmaps/xpdb-ca": () => ({ data: { "ca.crt": rootCertificates[0] } }),
		[account]: () => ({ status: { token: "token", expirationTimestamp: new Date(Date.now() + 600_000) } }),
		[agents]: () => ({ items: hasAgent ? [describePod("xpdb-system", "agent")] : [] }),
		"/api/v1/nodes": () => ({ items: [describeNode()] }),
		"/api/v1/nodes/node": describeNode,
		"/api/v1/pods": () => ({ items: isEvicted ? [] : [describePod("default", "pod")] }),
		"/api/v1/namespaces/default/pods": () => ({ items: isEvicted ? [] : [describePod("default", "pod")] }),
		[pod]: () => (isEvicted ? undefined : describePod("default", "pod")),
		[`${pod}/eviction`]: () => {
			isEvicted = true;
			return { kind: "Status", status: "Success" };
		},
	};
	const server = createServer((request: IncomingMessage, response: ServerResponse) => {
		request.resume();
		const [path = ""] = (request.url ?? "").split("?");
		const answer = answers[path]?.();
		response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
		response.end(JSON.stringify(answer ?? { kind: "Status", status: "Failure", reason: "NotFound", code: 404 }));
	});
	server.on("upgrade", (_request, socket) => socket.destroy());
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("the training server has no port");
	return {
		address: `http://127.0.0.1:${address.port}`,
		close() {
			server.close();
			server.closeAllConnections();
		},
	};
}

function describeNode(): object {
	return { kind: "Node", metadata: { name: "node", uid: "node", resourceVersion: "1" }, spec: {}, status: {} };
}

function describePod(namespace: string, name: string): object {
	return {
		kind: "Pod",
		metadata: {
			name,
			namespace,
			uid: `${namespace}-${name}`,
			resourceVersion: "1",
			labels: namespace === "default" ? { app: "app" } : { "app.kubernetes.io/name": "xpdb-agent" },
			ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "set", uid: "set", controller: true }],
		},
		spec: { nodeName: "node", containers: [{ name: "main", ports: [{ name: "grpc", containerPort: 8443 }] }] },
		status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
	};
}
