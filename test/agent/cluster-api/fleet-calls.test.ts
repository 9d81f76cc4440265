import { afterEach, describe, expect, test } from "vitest";
import { createFleetCalls } from "../../../agent/cluster-api/fleet-calls.ts";
import { createApiAsker } from "../../../agent/kubernetes/api-asker.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { startScriptedServer } from "../../support/scripted-api-server.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
	for (const one of open.splice(0).toReversed()) await one.close();
});

/**
 * Creates the fleet calls of an agent whose Leases are in xpdb-system. `answers` are the ConfigMap's data in turn. The last one repeats.
 */
async function setUp(...answers: readonly Readonly<Record<string, string>>[]) {
	let asked = 0;
	const metadata = { name: "xpdb-fleet", uid: "u", resourceVersion: "5" };
	const server = await startScriptedServer((request) => {
		request.json(200, { metadata, data: answers[Math.min(asked++, answers.length - 1)] });
	});
	open.push(server);
	const connection = createApiConnection({ access: server.access, clock: systemClock, cluster: "eu-1" });
	open.push(connection);
	const namespace = "xpdb-system";
	const options = { fleetConfigMap: "xpdb-fleet", fleetNamespace: namespace, leaseNamespace: namespace };
	return createFleetCalls(createApiAsker(connection), options);
}

describe("getFleet() of an agent whose Leases stand", () => {
	const members = '[{"id":"id-1","name":"eu-1"}]';
	const rows = [
		{ name: "beside the declaration, which says nothing", data: { members } },
		{ name: "where the declaration says", data: { members, leaseNamespace: "xpdb-system" } },
	];
	for (const { name, data } of rows) {
		test(`${name}, gives the fleet`, async () => {
			const { getFleet } = await setUp(data);
			expect(await getFleet()).toMatchObject({ members: [{ id: "id-1" }] });
		});
	}

	test("elsewhere, gives none, also not one that it had before", async () => {
		const { getFleet } = await setUp({ members }, { members, leaseNamespace: "leases" });
		await getFleet();
		await expect(getFleet()).rejects.toThrow(
			/keeps the Leases of this cluster in namespace "leases" .* and this agent keeps its own in "xpdb-system" \(--lease-namespace\)/,
		);
		await expect(getFleet()).rejects.toBeInstanceOf(AgentUnavailableError);
	});
});
