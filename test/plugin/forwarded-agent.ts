// An agent as the plugin reaches it: TLS by the fleet's CA, behind an API server on loopback that forwards its port.
import { ServerCredentials } from "@grpc/grpc-js";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { KubeContext } from "../../plugin/kube-context.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import type { AgentServiceServer } from "../../proto/gen/xpdb/v1/agent.ts";
import { statusOfError } from "../../proto/status.ts";
import { descriptionMessage } from "../../proto/wire-calls.ts";
import { forwardPort } from "../apiserver/port-forward.ts";
import { type Authority, issueAgentCertificate } from "../controlplane/certificates.ts";
import { startScriptedAgent } from "../proto/scripted-agent.ts";
import { newClient, newContext, newPod, notFound } from "./build-plugin-pod.ts";

export interface ForwardedAgent extends AsyncDisposable {
	readonly context: KubeContext;
}

export interface ForwardedAgentOptions {
	/** Of the context. */
	readonly name: string;
	/** The UID of its namespace kube-system. */
	readonly id: string;
	readonly authority: Authority;
	/** What the agent says, of itself ("") or of another member; throws what it refuses. */
	readonly describe: (clusterId: string) => AgentDescription;
}

export async function startForwardedAgent({
	name,
	id,
	authority,
	describe,
}: ForwardedAgentOptions): Promise<ForwardedAgent> {
	const pair = await issueAgentCertificate(authority, { clusterId: id });
	const handlers: Partial<AgentServiceServer> = {
		describe({ request }, answer) {
			try {
				answer(null, descriptionMessage(describe(request.clusterId)));
			} catch (error) {
				answer(statusOfError(error));
			}
		},
	};
	const keys = [{ cert_chain: Buffer.from(pair.certificate), private_key: Buffer.from(pair.key) }];
	const agent = await startScriptedAgent(handlers, ServerCredentials.createSsl(null, keys));
	const port = Number(agent.address.split(":").at(-1));
	const server = createServer();
	const webSockets = new WebSocketServer({ server, handleProtocols: () => "v4.channel.k8s.io" });
	webSockets.on("connection", (ws) => forwardPort(ws, port, { host: "127.0.0.1", port }));
	await new Promise<void>((resolve) => {
		server.listen(0, "127.0.0.1", resolve);
	});
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
	const { port: served } = server.address() as AddressInfo;
	const labels = { "app.kubernetes.io/name": "xpdb-agent" };
	const pod = {
		...newPod("agent", { namespace: "xpdb-system", labels }),
		status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
	};
	const objects: Readonly<Record<string, object>> = {
		"/api/v1/namespaces/kube-system": { metadata: { uid: id } },
		"/api/v1/namespaces/xpdb-system/configmaps/xpdb-ca": { data: { "ca.crt": authority.certificate } },
	};
	const client = newClient({
		list: (path) => (path === "/api/v1/namespaces/xpdb-system/pods" ? [pod] : []),
		get(path) {
			const object = objects[path];
			if (!object) throw notFound(`${path} not found`);
			return object;
		},
		post: () => ({ status: { token: "abc" } }),
	});
	return {
		context: newContext(name, { ...client, server: `http://127.0.0.1:${served}` }),
		async [Symbol.asyncDispose]() {
			for (const ws of webSockets.clients) ws.terminate();
			webSockets.close();
			server.close();
			await agent[Symbol.asyncDispose]();
		},
	};
}
