import { Metadata } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { callerFields } from "../../../agent/peers/caller.ts";
import { createPeerGate, createTokenGate, type IncomingCall } from "../../../agent/server/gate.ts";
import { AgentServiceService } from "../../../proto/gen/xpdb/v1/agent.ts";
import { writePassedOnCaller } from "../../../proto/passed-on.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";

function callOf(path: string, metadata = new Metadata()): IncomingCall {
	return { metadata, getAuthContext: () => ({}), getPath: () => path, getPeer: () => "127.0.0.1:1" };
}

describe("admit() on the port for callers with a token", () => {
	for (const [peer, address] of [
		["10.0.0.7:40000", "10.0.0.7"],
		["fd00::7:40000", "fd00::7"],
		["::1:40000", "::1"],
	] as const) {
		test(`limits callers by their address: ${peer}`, async () => {
			const asked: unknown[] = [];
			const gate = createTokenGate({
				identity: {
					check: async (_, from) => {
						asked.push(from);
						return { kind: "unauthenticated", reason: "unknown" };
					},
				},
				rights: { refusal: async () => undefined },
				local: createFakeCluster(),
				member: async () => createFakeCluster(),
				others: async () => [],
			});
			await gate.admit({ ...callOf(AgentServiceService.renew.path), getPeer: () => peer });
			expect(asked).toEqual([address]);
		});
	}
});

describe("admit() on the peer port", () => {
	test("says which member calls, and for whom it says that it does", async () => {
		const gate = createPeerGate({
			local: createFakeCluster(),
			identity: {
				certified: () => ({ kind: "unauthenticated", reason: "not asked for" }),
				check: async () => ({ kind: "member", clusterId: "peer-id" }),
			},
		});
		const metadata = new Metadata();
		writePassedOnCaller(metadata, { user: "alice", tokenId: "JTI=1" });
		const admission = await gate.admit(callOf(AgentServiceService.renew.path, metadata));
		if (admission.kind === "refused") throw new Error("It was refused");
		expect(admission.caller).toEqual({
			kind: "peer",
			member: "peer-id",
			onBehalfOf: { user: "alice", tokenId: "JTI=1" },
		});
		expect(callerFields(admission.caller)).toEqual({ member: "peer-id", user: "alice", tokenId: "JTI=1" });
	});

	test("does not believe a cluster that greets for whom it calls", async () => {
		const gate = createPeerGate({
			local: createFakeCluster(),
			identity: {
				certified: () => ({ kind: "member", clusterId: "stranger-id" }),
				check: async () => ({ kind: "forbidden", reason: "not a member" }),
			},
		});
		const metadata = new Metadata();
		writePassedOnCaller(metadata, { user: "alice", tokenId: "JTI=1" });
		expect(await gate.admit(callOf(AgentServiceService.greet.path, metadata))).toEqual({
			kind: "admitted",
			caller: { kind: "peer", member: "stranger-id" },
		});
	});

	test("asks anew who is a member for whatever takes or counts, and for nothing else", async () => {
		const anew: string[] = [];
		const renews: string[] = [];
		const certified: string[] = [];
		let path = "";
		const gate = createPeerGate({
			local: createFakeCluster(),
			identity: {
				certified() {
					certified.push(path);
					return { kind: "member", clusterId: "peer-id" };
				},
				async check(_certificate, options) {
					if (options.anew) anew.push(path);
					if (options.renews) renews.push(path);
					return { kind: "member", clusterId: "peer-id" };
				},
			},
		});
		for (const method of Object.values(AgentServiceService)) {
			path = method.path;
			await gate.admit(callOf(path));
		}
		const { acquire, count, commit, renew } = AgentServiceService;
		expect(renews).toEqual([renew.path]);
		expect(new Set(anew)).toEqual(new Set([acquire, count, commit].map((method) => method.path)));
		// Only Greet also accepts clusters that are not members.
		expect(certified).toEqual([AgentServiceService.greet.path]);
	});
});
