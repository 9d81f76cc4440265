import { describe, expect, test } from "vitest";
import { issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import type { AcquireOptions, AcquireOutcome } from "../../../disruption/budget/cluster.ts";
import { AgentForbiddenError, AgentUnavailableError } from "../../../disruption/errors.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const { acquireRequest, acquisition } = samples;
const { fleet, serve } = servedAgents();
const never = new AbortController().signal;

describe("Acquire", () => {
	test("reports places in line, then the acquisition", async () => {
		const local = createFakeCluster({
			acquire: async (_request, { onQueued }) => {
				onQueued?.({ position: 2, holder: "drain-8a", heldForMs: 10 });
				onQueued?.({ position: 1, holder: "", heldForMs: 0 });
				return samples.acquired;
			},
		});
		const caller = (await serve({ local })).asCaller();
		const places: number[] = [];
		const onQueued = ({ position }: { position: number }) => places.push(position);
		const outcome = await caller.acquire(acquireRequest, { wait: true, signal: never, onQueued });
		expect([outcome.kind, places]).toEqual(["acquired", [2, 1]]);
	});

	test("says who holds the lease where nobody waits", async () => {
		const held: AcquireOutcome = { kind: "held", position: 1, holder: "drain-8a", heldForMs: 12 };
		const caller = (await serve({ local: createFakeCluster({ acquire: async () => held }) })).asCaller();
		expect(await caller.acquire(acquireRequest, { wait: false, signal: never })).toEqual(held);
	});

	test("leaves the line for a caller that goes away", async () => {
		const { promise: left, resolve } = Promise.withResolvers<void>();
		const local = createFakeCluster({
			acquire: (_request, { signal, onQueued }) => {
				onQueued?.({ position: 1, holder: "drain-8a", heldForMs: 1 });
				return untilAborted(signal, resolve);
			},
		});
		const agent = await serve({ local });
		const controller = new AbortController();
		const reason = new Error("Ctrl-C");
		const waiting = agent.asCaller().acquire(acquireRequest, {
			wait: true,
			signal: controller.signal,
			onQueued: () => controller.abort(reason),
		});
		await expect(waiting).rejects.toBe(reason);
		await left;
		expect(agent.log).toEqual([]);
	});

	test("gives nothing to a member that was taken out of the fleet while it stood in line", async () => {
		const released: unknown[] = [];
		const local = createFakeCluster({
			acquire: async (_request, { onQueued }) => {
				onQueued?.({ position: 1, holder: "drain-8a", heldForMs: 1 });
				fleetMembers.pop();
				return samples.acquired;
			},
			release: async (given) => void released.push(given),
		});
		const fleetMembers = [{ id: "peer-id", name: "eu-2" }];
		const pair = await issueAgentCertificate(fleet(), { clusterId: "peer-id" });
		const peer = (await serve({ local, fleetMembers })).asPeer({ pair });
		const acquired = peer.acquire(acquireRequest, { wait: true, signal: never });
		await expect(acquired).rejects.toBeInstanceOf(AgentForbiddenError);
		expect(released).toEqual([samples.acquired.acquisition]);
	});

	test("gives back what it acquired for a caller that went away meanwhile", async () => {
		const { promise: released, resolve } = Promise.withResolvers<unknown>();
		const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
		const local = createFakeCluster({
			acquire: (_request, { signal }) => {
				isAsked();
				// Acquires anyway, like a cluster whose write is already under way.
				return new Promise((acquired) => signal.addEventListener("abort", () => acquired(samples.acquired)));
			},
			release: async (given) => resolve(given),
		});
		const agent = await serve({ local });
		const controller = new AbortController();
		const waiting = agent.asCaller().acquire(acquireRequest, { wait: true, signal: controller.signal });
		await asked;
		controller.abort();
		await expect(waiting).rejects.toBe(controller.signal.reason);
		expect(await released).toEqual(acquisition);
		expect(await agent.held.releaseAll()).toEqual([]);
		expect(local.asked.filter(([method]) => method === "release")).toHaveLength(1);
	});

	test("gives back for a caller whose deadline is over", async () => {
		const { promise: released, resolve } = Promise.withResolvers<unknown>();
		const local = createFakeCluster({
			acquire: (_request, { signal }) =>
				new Promise((acquired) => signal.addEventListener("abort", () => acquired(samples.acquired))),
			release: async (given) => resolve(given),
		});
		const caller = (await serve({ local })).asCaller({ deadlineMs: 2_000, countMs: 0 });
		await expect(caller.acquire(acquireRequest, { wait: false, signal: never })).rejects.toBeInstanceOf(
			AgentUnavailableError,
		);
		expect(await released).toEqual(acquisition);
	});

	test("sends waiting callers away when the agent stops, and gives back what others hold through it", async () => {
		const { promise: queued, resolve: isQueued } = Promise.withResolvers<void>();
		const local = createFakeCluster({
			acquire: async ({ holder }, { signal }) => {
				if (holder === acquireRequest.holder) return samples.acquired;
				isQueued();
				return untilAborted(signal);
			},
		});
		const agent = await serve({ local });
		await agent.asCaller().acquire(acquireRequest, { wait: true, signal: never });
		const waiting = agent.asCaller().acquire({ ...acquireRequest, holder: "drain-8a" }, { wait: true, signal: never });
		await queued;
		const reason = new AgentUnavailableError("The agent is shutting down", "eu-1");
		agent.stopping.abort(reason);
		await expect(waiting).rejects.toMatchObject({ reason: "AgentUnavailable", message: reason.message });
		await agent.held.releaseAll();
		expect(local.asked.at(-1)).toEqual(["release", acquisition]);
	});
});

function untilAborted(signal: AcquireOptions["signal"], then?: () => void): Promise<AcquireOutcome> {
	return new Promise((_resolve, reject) => {
		signal.addEventListener("abort", () => {
			then?.();
			reject(signal.reason);
		});
	});
}
