import { describe, expect, test } from "vitest";
import type { Caller } from "../../../agent/peers/caller.ts";
import { OpenCalls } from "../../../agent/server/open-calls.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { buildTokenCaller, operator } from "../../support/build-caller.ts";

function begin(calls: OpenCalls, caller: Caller, count: number): (() => void)[] {
	return Array.from({ length: count }, () => calls.beginAcquire(caller, 0));
}

const team = (name: string, token: string): Caller =>
	buildTokenCaller({ user: { ...operator, username: name }, tokenHash: token });

describe("OpenCalls", () => {
	test("bound a token, and leave room for others", () => {
		const calls = new OpenCalls("eu-1");
		const [end] = begin(calls, team("shop", "a"), 400);
		expect(() => calls.beginAcquire(team("shop", "a"), 0)).toThrow(AgentUnavailableError);
		expect(() => calls.beginAcquire(team("shop", "a"), 0)).toThrow('in cluster "eu-1": this token has as many open');
		end?.();
		end?.();
		begin(calls, team("shop", "a"), 1);
		expect(() => calls.beginAcquire(team("shop", "a"), 0)).toThrow(AgentUnavailableError);
		begin(calls, team("shop", "b"), 10);
	});

	test("keep nobody's renewals and commits out, and bound those too", () => {
		const calls = new OpenCalls("eu-1");
		const caller = team("shop", "a");
		begin(calls, caller, 400);
		for (let index = 0; index < 400; index++) calls.begin(caller);
		expect(() => calls.begin(caller)).toThrow(AgentUnavailableError);
	});

	test("bound an account with many tokens, and a member, and leave room for others", () => {
		const calls = new OpenCalls("eu-1");
		for (let token = 0; token < 8; token++) begin(calls, team("shop", `${token}`), 100);
		expect(() => calls.beginAcquire(team("shop", "new"), 0)).toThrow("this account has as many open");
		begin(calls, team("web", "w"), 10);
		const peers = new OpenCalls("eu-1");
		begin(peers, { kind: "peer", member: "eu-2-id" }, 800);
		expect(() => peers.beginAcquire({ kind: "peer", member: "eu-2-id" }, 0)).toThrow("this member has as many open");
		begin(peers, { kind: "peer", member: "eu-3-id" }, 200);
		expect(() => peers.beginAcquire({ kind: "peer", member: "eu-4-id" }, 0)).toThrow("as it can serve");
	});

	test("count what a call asks for: a thousand candidates weigh as twenty calls", () => {
		const calls = new OpenCalls("eu-1");
		const caller = team("shop", "a");
		const ends = Array.from({ length: 19 }, () => calls.beginAcquire(caller, 1_000));
		expect(() => calls.beginAcquire(caller, 1_000)).toThrow(AgentUnavailableError);
		for (const end of ends) end();
		begin(calls, caller, 400);
	});
});
