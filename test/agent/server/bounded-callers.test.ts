// Tests the limits of one caller over real connections.
import { describe, expect, test } from "vitest";
import { HeldLeases, longestHoldMs } from "../../../agent/server/held-leases.ts";
import { OpenCalls } from "../../../agent/server/open-calls.ts";
import { AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const { acquireRequest, acquisition } = samples;
const atOnce = { wait: false, signal: new AbortController().signal };
const { serve } = servedAgents();
const caller = buildTokenCaller();

function acquiringCluster() {
	const asked: string[] = [];
	const local = createFakeCluster({
		acquire: async () => {
			asked.push("acquire");
			return samples.acquired;
		},
		renew: async () => void asked.push("renew"),
	});
	return { local, asked };
}

describe("a caller", () => {
	test("renews a Lease for five minutes and no longer", async () => {
		const { local, asked } = acquiringCluster();
		let now = 0;
		const agent = await serve({ local, held: new HeldLeases({ now: () => now, cluster: "eu-1" }) });
		const client = agent.asCaller();
		await client.acquire(acquireRequest, atOnce);
		now = longestHoldMs - 1;
		await client.renew(samples.acquired.acquisition);
		now = longestHoldMs;
		await expect(client.renew(samples.acquired.acquisition)).rejects.toBeInstanceOf(LeaseLostError);
		expect(asked).toEqual(["acquire", "renew"]);
	});

	test("who holds five hundred Leases gets no further one", async () => {
		const { local, asked } = acquiringCluster();
		const held = new HeldLeases({ now: () => 0, cluster: "eu-1" });
		for (let nth = 0; nth < 500; nth += 1) held.begin(caller, local, { ...acquisition, nonce: `n-${nth}` });
		const client = (await serve({ local, held })).asCaller();
		await expect(client.acquire(acquireRequest, atOnce)).rejects.toThrow(
			"already holds 500 Leases there, which is the limit",
		);
		expect(asked).toEqual([]);
	});

	test("who waits four hundred times does not wait once more, and is answered whatever else it asks", async () => {
		const { local, asked } = acquiringCluster();
		const openCalls = new OpenCalls("eu-1");
		for (let open = 0; open < 400; open += 1) openCalls.beginAcquire(caller, 0);
		const client = (await serve({ local, openCalls })).asCaller();
		await expect(client.acquire(acquireRequest, atOnce)).rejects.toBeInstanceOf(AgentUnavailableError);
		await client.renew(acquisition);
		expect(asked).toEqual(["renew"]);
	});

	test("who has four hundred other calls open has no further one", async () => {
		const { local, asked } = acquiringCluster();
		const openCalls = new OpenCalls("eu-1");
		for (let open = 0; open < 400; open += 1) openCalls.begin(caller);
		const client = (await serve({ local, openCalls })).asCaller();
		await expect(client.renew(acquisition)).rejects.toBeInstanceOf(AgentUnavailableError);
		expect(asked).toEqual([]);
	});
});
