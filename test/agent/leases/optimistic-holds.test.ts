import { describe, expect, test } from "vitest";
import { OptimisticHolds } from "../../../agent/leases/optimistic-holds.ts";
import type { AcquireOutcome, AcquireRequest, CandidateState } from "../../../disruption/budget/cluster.ts";
import { budget, newCount, presentPod, selector } from "../../support/build-count.ts";
import { asks } from "../../support/simulated-agent.ts";

function setUp() {
	let ids = 0;
	const api = { session: 1 as number | undefined, connection: () => api.session };
	const holds = new OptimisticHolds({ api, newId: () => `hold-${++ids}` });
	const counted = (candidates: readonly CandidateState[] = []): AcquireOutcome => ({
		kind: "acquired",
		acquisition: {
			budget,
			leaseUid: "lease",
			leaseTransitions: 2,
			nonce: "n",
			unwritten: { holder: "drain", lease: "fingerprint", selector, healthy: 3 },
		},
		count: newCount("eu", { candidates }),
		leaseDurationMs: 10_000,
	});
	const acquire = async (candidates: readonly CandidateState[] = []) => {
		const outcome = await holds.acquire(asks("n", { mayBeUnwritten: true }), async () => counted(candidates));
		if (outcome.kind !== "acquired") throw new Error("it is held");
		return outcome.acquisition;
	};
	return { api, holds, counted, acquire };
}

describe("OptimisticHolds", () => {
	test("remembers from which Lease was counted, over which connection, and who was not ready", async () => {
		const { holds, acquire } = setUp();
		const acquisition = await acquire([
			presentPod("db-0"),
			presentPod("db-1", { healthy: false }),
			{ kind: "gone", pod: { namespace: "shop", name: "db-2", uid: "uid-db-2" } },
		]);
		expect(acquisition.unwritten?.lease).toBe("hold-1");
		expect(holds.find(acquisition)).toMatchObject({
			counted: { lease: "fingerprint", healthy: 3 },
			unready: new Set(["uid-db-1"]),
			connection: 1,
		});
	});

	test("says that a hold is broken once another connection carries what is sent, or none stands", async () => {
		const { api, holds, acquire } = setUp();
		const hold = holds.find(await acquire());
		if (!hold) throw new Error("it is forgotten");
		expect(holds.isUnbroken(hold)).toBe(true);
		for (const session of [2, undefined]) {
			api.session = session;
			expect(holds.isUnbroken(hold)).toBe(false);
		}
	});

	test("goes by the connection that stood before the count, and asks for a written hold where none did", async () => {
		const { api, holds, counted } = setUp();
		const outcome = await holds.acquire(asks("n", { mayBeUnwritten: true }), async () => {
			api.session = 2;
			return counted();
		});
		if (outcome.kind !== "acquired") throw new Error("it is held");
		expect(holds.find(outcome.acquisition)?.connection).toBe(1);
		api.session = undefined;
		const asked: AcquireRequest[] = [];
		await holds.acquire(asks("m", { mayBeUnwritten: true }), async (request) => {
			asked.push(request);
			return counted();
		});
		expect(asked.map(({ mayBeUnwritten }) => mayBeUnwritten)).toEqual([false]);
	});

	test("forgets the oldest, by how many candidates it has to remember of each", async () => {
		const { holds, acquire } = setUp();
		const unready = Array.from({ length: 999 }, (_, index) => presentPod(`db-${index}`, { healthy: false }));
		const acquisitions = [];
		for (let count = 0; count < 21; count += 1) acquisitions.push(await acquire(unready));
		expect(acquisitions.map((each) => holds.find(each) !== undefined)).toEqual([
			false,
			...Array.from({ length: 20 }, () => true),
		]);
	});

	test("knows nothing of a hold that was written, or got elsewhere", async () => {
		const { holds, counted } = setUp();
		const outcome = counted();
		if (outcome.kind !== "acquired") throw new Error("it is held");
		expect(holds.find(outcome.acquisition)).toBeUndefined();
		const { unwritten: _, ...written } = outcome.acquisition;
		expect(holds.find(written)).toBeUndefined();
	});
});
