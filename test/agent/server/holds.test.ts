import { describe, expect, test } from "vitest";
import { Holds, longestHoldMs } from "../../../agent/server/holds.ts";
import { AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { acquisition } from "../../support/samples.ts";

const caller = buildTokenCaller();
const other = { kind: "peer", member: "eu-2-id" } as const;

function setting() {
	const clock = { now: 0 };
	return { clock, holds: new Holds({ now: () => clock.now, cluster: "eu-1" }) };
}

describe("Holds", () => {
	test("end after five minutes, however often they are renewed", () => {
		const { clock, holds } = setting();
		holds.begin(caller, acquisition);
		for (; clock.now < longestHoldMs; clock.now += 3_000) holds.renew(acquisition);
		expect(() => holds.renew(acquisition)).toThrow(LeaseLostError);
		expect(() => holds.renew(acquisition)).toThrow('in cluster "eu-1": it was held for 5 minutes');
	});

	test("count from the first sight of what was acquired elsewhere, and anew for a new acquisition", () => {
		const { clock, holds } = setting();
		holds.renew(acquisition);
		clock.now = longestHoldMs;
		expect(() => holds.renew(acquisition)).toThrow(LeaseLostError);
		holds.renew({ ...acquisition, nonce: "another" });
		holds.end(acquisition);
		holds.renew(acquisition);
	});

	test("are five hundred for one account, and others have theirs", () => {
		const { clock, holds } = setting();
		for (let index = 0; index < 500; index++) {
			holds.assertRoom(caller);
			holds.begin(caller, { ...acquisition, nonce: `nonce-${index}` });
		}
		expect(() => holds.assertRoom(caller)).toThrow(AgentUnavailableError);
		holds.assertRoom(other);
		holds.end({ ...acquisition, nonce: "nonce-0" });
		holds.assertRoom(caller);
		holds.begin(caller, acquisition);
		// What is not renewed is over.
		clock.now = 20_001;
		holds.assertRoom(caller);
	});
});
