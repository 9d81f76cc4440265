import { expect, test } from "vitest";
import { createLeaseCalls } from "../../../agent/cluster-api/lease-calls.ts";
import { createApiAsker } from "../../../agent/kubernetes/api-asker.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { startScriptedServer } from "../../support/scripted-api-server.ts";
import { createSkippingClock } from "../../support/skipping-clock.ts";

test("updateLease() has the API server forget who wrote which field, and keep no account of it", async () => {
	const lease = { name: "a", uid: "u", resourceVersion: "4", labels: {}, annotations: {}, spec: {} };
	const server = await startScriptedServer((request) => request.json(200, { metadata: lease, spec: {} }));
	const connection = createApiConnection({ access: server.access, clock: createSkippingClock(), cluster: "eu-1" });
	try {
		await createLeaseCalls(createApiAsker(connection), "xpdb-system").updateLease(lease);
		// As documented under "Clearing managedFields" at kubernetes.io/docs/reference/using-api/server-side-apply.
		expect(server.requests[0]?.body).toMatchObject({ metadata: { managedFields: [{}] } });
	} finally {
		connection.close();
		await server.close();
	}
});
