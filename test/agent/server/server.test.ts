import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { acquireRequest, acquisition, clusterId } from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const never = new AbortController().signal;
const { serve } = servedAgents();

describe("renewConnections()", () => {
	test("lets calls under way end, ends those that take longer, and takes new ones over new connections", async () => {
		const started = Promise.withResolvers<void>();
		const finish = Promise.withResolvers<void>();
		const queued = Promise.withResolvers<void>();
		const local = createFakeCluster({
			renew: async () => {
				started.resolve();
				await finish.promise;
			},
			acquire: (_request, { signal }) =>
				new Promise((_resolve, reject) => {
					queued.resolve();
					signal.addEventListener("abort", () => reject(signal.reason));
				}),
		});
		const agent = await serve({ local });
		const peer = agent.asPeer();
		const renewing = peer.renew(acquisition);
		await started.promise;
		const waiting = peer.acquire(acquireRequest, { wait: true, signal: never });
		const outcome = waiting.catch((error: unknown) => error);
		await queued.promise;
		agent.renewConnections(200);
		finish.resolve();
		await renewing;
		expect(await outcome).toBeInstanceOf(AgentUnavailableError);
		expect((await peer.describe()).clusterId).toBe(clusterId);
	});
});
