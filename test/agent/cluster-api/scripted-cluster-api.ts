// Connects a ClusterApi to an API server whose answers the test scripts.
import { createClusterApi } from "../../../agent/cluster-api/create-cluster-api.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { type ScriptedRequest, startScriptedServer } from "../../support/scripted-api-server.ts";
import { createSkippingClock } from "../../support/skipping-clock.ts";

const kubeSystem = { metadata: { name: "kube-system", uid: "cluster-id", resourceVersion: "1" } };
const open: { close(): unknown }[] = [];

/** Call it after each test. */
export async function closeApis(): Promise<void> {
	for (const one of open.splice(0).toReversed()) await one.close();
}

type Handler = (request: ScriptedRequest, nth: number) => void;

export async function connectApi(handle: Handler) {
	let nth = 0;
	const server = await startScriptedServer((request) => {
		if (request.path === "/api/v1/namespaces/kube-system") request.json(200, kubeSystem);
		else handle(request, ++nth);
	});
	open.push(server);
	const connectionClock = createSkippingClock();
	const connection = createApiConnection({ access: server.access, clock: connectionClock, cluster: "eu-1" });
	open.push(connection);
	const clock = createManualClock();
	const api = await createClusterApi(connection, {
		leaseNamespace: "xpdb-system",
		fleetConfigMap: "xpdb-fleet",
		fleetNamespace: "xpdb-system",
		clock,
	});
	const asked = () => server.requests.slice(1).map(({ method, path }) => `${method} ${path}`);
	return { api, connection, connectionClock, clock, server, asked };
}

export const answering =
	(status: number, body: unknown): Handler =>
	(request) =>
		request.json(status, body);
