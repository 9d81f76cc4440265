import { describe, expect, test } from "vitest";
import type { Exposure } from "../../../plugin/install/expose/exposure.ts";
import { waitForAddress } from "../../../plugin/install/expose/wait-address.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const exposure: Exposure = { kind: "loadbalancer", annotations: {}, sources: [] };
const service = (ingress: readonly object[] = [], type = "LoadBalancer") => ({
	metadata: { name: "xpdb-peers", labels: { "xpdb.form3.tech/agent-namespace": "xpdb-system" } },
	spec: { type, ports: [{ port: 8444 }] },
	status: { loadBalancer: { ingress } },
});

/** Waits for an address. `atSecond` returns the Service at that second, and each read takes `readingMs`. */
function wait(
	atSecond: (second: number) => object,
	{ timeoutMs = 60_000, readingMs = 0, sources = [] as readonly string[] } = {},
) {
	const told: string[] = [];
	const aborting = new AbortController();
	let nowMs = 0;
	const client = newClient({
		get() {
			nowMs += readingMs;
			return atSecond(nowMs / 1_000);
		},
		list: () => [
			{ reason: "Old", message: "forget it", lastTimestamp: "2026-01-01T00:00:00Z", metadata: {} },
			{ reason: "SyncLoadBalancerFailed", message: "no quota", lastTimestamp: "2026-01-02T00:00:00Z", metadata: {} },
		],
	});
	const found = waitForAddress(
		{ context: newContext("eu", client), exposure: { ...exposure, sources } },
		{
			timeoutMs,
			signal: aborting.signal,
			tell: (line) => told.push(line),
			clock: {
				now: () => nowMs,
				pause: async (ms, signal) => {
					signal.throwIfAborted();
					nowMs += ms;
				},
			},
		},
	);
	return { found, told, aborting };
}

describe("waitForAddress()", () => {
	test("tells what it waits for, that it still does, and where the agents are reached", async () => {
		const { found, told } = wait((second) =>
			service(second < 20 ? [] : [{ hostname: "a.elb.example.com" }], second < 2 ? "NodePort" : "LoadBalancer"),
		);
		expect((await found).address).toBe("a.elb.example.com:8444");
		expect(told).toEqual([
			"eu  service/xpdb-peers: it is still a node port",
			"eu  service/xpdb-peers: its load balancer has no address yet (2s)",
			"eu  service/xpdb-peers: its load balancer has no address yet (17s)",
			"eu  others reach its agents at a.elb.example.com:8444, the load balancer",
		]);
	});

	test("warns of an IP version that the new Service has and no source range is of", async () => {
		const made = service([{ ip: "2001:db8::7" }]);
		const dual = { ...made, spec: { ...made.spec, ipFamilies: ["IPv6"] } };
		const { found, told } = wait(() => dual, { sources: ["10.0.0.0/8"] });
		await found;
		expect(told).toEqual([
			"eu  others reach its agents at [2001:db8::7]:8444, the load balancer",
			expect.stringMatching("^Warning: eu: service/xpdb-peers serves IPv6, .*--expose-source=eu=2001:db8::/32"),
		]);
	});

	test("says no age of what it has just begun to wait for, though a reading takes its time", async () => {
		const { found, told } = wait((second) => service(second < 2 ? [] : [{ ip: "192.0.2.1" }]), { readingMs: 20 });
		await found;
		expect(told[0]).toBe("eu  service/xpdb-peers: its load balancer has no address yet");
	});

	test("ends with what the cluster says last, and with how to go on", async () => {
		const { found } = wait(() => service());
		await expect(found).rejects.toMatchObject({
			message:
				"eu: after 60 s service/xpdb-peers: its load balancer has no address yet (SyncLoadBalancerFailed: no quota); " +
				"see kubectl describe service xpdb-peers -n xpdb-system --context eu",
			hint:
				"Once it has one, run the same command to continue; a cluster without load balancers takes --expose=eu=nodeport; " +
				"one that you know can be given with --address=eu=HOST:PORT",
		});
	});

	test("ends where it is interrupted", async () => {
		const { found, aborting } = wait(() => service());
		aborting.abort(new Error("interrupted"));
		await expect(found).rejects.toThrow("interrupted");
	});
});
