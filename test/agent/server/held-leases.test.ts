import { describe, expect, test } from "vitest";
import { HeldLeases, longestHoldMs } from "../../../agent/server/held-leases.ts";
import { AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { acquisition } from "../../support/samples.ts";

const caller = buildTokenCaller();
const other = { kind: "peer", member: "eu-2-id" } as const;
const numbered = (number: number) => ({ ...acquisition, nonce: `nonce-${number}` });

function setting() {
	const clock = { now: 0 };
	const durations: number[] = [];
	const held = new HeldLeases({
		now: () => clock.now,
		cluster: "eu-1",
		onEnded: (heldMs) => durations.push(heldMs),
	});
	return { clock, held, durations, cluster: createFakeCluster() };
}

describe("HeldLeases", () => {
	test("gives back what is held, once, and not what has ended", async () => {
		const { held, cluster } = setting();
		held.begin(caller, cluster, numbered(1));
		held.begin(caller, cluster, numbered(2));
		held.end(numbered(1));
		expect(await held.releaseAll()).toEqual([]);
		await held.releaseAll();
		expect(cluster.asked).toEqual([["release", numbered(2)]]);
	});

	test("says for how long a lease was held, once, and not of one that was acquired elsewhere", () => {
		const { clock, held, durations, cluster } = setting();
		clock.now = 100;
		held.begin(caller, cluster, acquisition);
		held.renew(numbered(2));
		clock.now = 350;
		held.end(acquisition);
		held.end(acquisition);
		held.end(numbered(2));
		expect(durations).toEqual([250]);
	});

	test("gives nothing back that nobody has renewed for twice its time, or that was acquired elsewhere", async () => {
		const { clock, held, cluster } = setting();
		held.begin(caller, cluster, numbered(1));
		held.begin(caller, cluster, numbered(2));
		held.renew(numbered(3));
		clock.now = 15_000;
		held.renew(numbered(2));
		held.renew(numbered(3));
		clock.now = 21_000;
		await held.releaseAll();
		expect(cluster.asked).toEqual([["release", numbered(2)]]);
	});

	test("tells of what could not be given back, and gives back the rest", async () => {
		const { held, cluster } = setting();
		const problem = new Error("No answer");
		held.begin(caller, createFakeCluster({ release: () => Promise.reject(problem) }), numbered(1));
		held.begin(caller, cluster, numbered(2));
		expect(await held.releaseAll()).toEqual([problem]);
		expect(cluster.asked).toEqual([["release", numbered(2)]]);
	});

	test("end after five minutes, however often they are renewed", () => {
		const { clock, held, cluster } = setting();
		held.begin(caller, cluster, acquisition);
		for (; clock.now < longestHoldMs; clock.now += 3_000) held.renew(acquisition);
		expect(() => held.renew(acquisition)).toThrow(LeaseLostError);
		expect(() => held.renew(acquisition)).toThrow('in cluster "eu-1": it was held for 5 minutes');
	});

	test("count from the first sight of what was acquired elsewhere, and anew for a new acquisition", () => {
		const { clock, held } = setting();
		held.renew(acquisition);
		clock.now = longestHoldMs;
		expect(() => held.renew(acquisition)).toThrow(LeaseLostError);
		held.renew({ ...acquisition, nonce: "another" });
		held.end(acquisition);
		held.renew(acquisition);
	});

	test("are five hundred for one account, and others have theirs", () => {
		const { clock, held, cluster } = setting();
		for (let index = 0; index < 500; index++) {
			held.assertRoom(caller);
			held.begin(caller, cluster, numbered(index));
		}
		expect(() => held.assertRoom(caller)).toThrow(AgentUnavailableError);
		held.assertRoom(other);
		held.end(numbered(0));
		held.assertRoom(caller);
		held.begin(caller, cluster, acquisition);
		// An acquisition that is not renewed ends.
		clock.now = 20_001;
		held.assertRoom(caller);
	});
});
