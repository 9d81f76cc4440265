import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { type Attempt, WaitingLine } from "../../../agent/leases/waiting-line.ts";
import type { AcquireOutcome, PlaceInLine } from "../../../disruption/budget/cluster.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { acquired } from "../../support/samples.ts";
import { settle } from "../../support/simulated-agent.ts";

/** Creates a Lease that "drain-7f" holds until the test frees it, and its waiting line. */
function setUp() {
	const clock = createManualClock();
	const line = new WaitingLine(clock);
	const lease = { holder: "drain-7f", heldSince: clock.now() };
	const attempts: string[] = [];
	const attemptOf =
		(caller: string): Attempt =>
		async (handover) => {
			attempts.push(handover ? `${caller} in turn` : caller);
			const { holder, heldSince } = lease;
			// The answer arrives later, so it describes an earlier state.
			await Promise.resolve();
			if (holder !== "") {
				const heldForMs = clock.now() - heldSince;
				return { kind: "held", position: 1, holder, heldForMs, retryAfterMs: 10_000 - heldForMs };
			}
			Object.assign(lease, { holder: caller, heldSince: clock.now() });
			return acquired;
		};
	const callers = new Map<string, { readonly abort: AbortController; readonly places: PlaceInLine[] }>();
	const got: string[] = [];
	/** `got` lists the callers that were answered, in order. */
	const ask = async (caller: string, attempt = attemptOf(caller)): Promise<AcquireOutcome> => {
		const abort = new AbortController();
		const places: PlaceInLine[] = [];
		callers.set(caller, { abort, places });
		const onQueued = (place: PlaceInLine) => void places.push(place);
		const outcome = await line.acquire("lease", attempt, { wait: true, signal: abort.signal, onQueued });
		got.push(caller);
		return outcome;
	};
	const outcomes = new Map<string, Promise<unknown>>();
	const join = async (...names: string[]) => {
		for (const name of names) {
			outcomes.set(
				name,
				ask(name).catch((error: unknown) => error),
			);
		}
		await settle();
	};
	const free = () => {
		lease.holder = "";
		line.wake("lease");
	};
	return { clock, line, lease, attempts, attemptOf, callers, got, ask, join, outcomes, free };
}

const wontWait = { wait: false, signal: new AbortController().signal };

describe("WaitingLine", () => {
	test("lets a caller try at once where nobody waits", async () => {
		const { line, lease, attemptOf, attempts } = setUp();
		lease.holder = "";
		expect(await line.acquire("lease", attemptOf("a"), wontWait)).toBe(acquired);
		expect(attempts).toEqual(["a"]);
	});

	test("says who holds the Lease and which place it would be, to who does not wait", async () => {
		const { line, clock, attemptOf, join } = setUp();
		clock.advance(400);
		const place = { kind: "held", holder: "drain-7f" };
		expect(await line.acquire("lease", attemptOf("a"), wontWait)).toEqual({ ...place, position: 1, heldForMs: 400 });
		await join("b");
		clock.advance(100);
		expect(await line.acquire("lease", attemptOf("c"), wontWait)).toEqual({ ...place, position: 2, heldForMs: 500 });
		expect(line.length("lease")).toBe(1);
	});

	test("serves first who came first", async () => {
		const { join, free, got } = setUp();
		await join("a", "b", "c");
		for (const expected of [["a"], ["a", "b"], ["a", "b", "c"]]) {
			free();
			await settle();
			expect(got).toEqual(expected);
		}
	});

	test("does not let a newcomer pass, also when the Lease is free in that moment", async () => {
		const { line, lease, join, attemptOf, attempts } = setUp();
		await join("a");
		lease.holder = "";
		expect(await line.acquire("lease", attemptOf("newcomer"), wontWait)).toMatchObject({ kind: "held", position: 2 });
		expect(attempts).not.toContain("newcomer");
	});

	test("keeps a line for each Lease", async () => {
		const { line, lease, join, attemptOf } = setUp();
		await join("a");
		lease.holder = "";
		expect(await line.acquire("another lease", attemptOf("b"), wontWait)).toBe(acquired);
	});

	test("tells an attempt whether the Lease is handed over", async () => {
		const { join, free, attempts } = setUp();
		await join("a");
		free();
		await settle();
		expect(attempts).toEqual(["a", "a in turn", "a in turn"]);
	});

	test("is empty again when everybody is served", async () => {
		const { line, join, free, outcomes } = setUp();
		await join("a", "b");
		expect(line.length("lease")).toBe(2);
		free();
		await settle();
		free();
		await Promise.all(outcomes.values());
		expect(line.length("lease")).toBe(0);
	});
});

describe("WaitingLine and a caller that is gone", () => {
	test("loses its place, and gets the reason", async () => {
		const { line, join, callers, outcomes } = setUp();
		await join("a", "b");
		callers.get("a")?.abort.abort(new Error("gone"));
		expect(await outcomes.get("a")).toEqual(new Error("gone"));
		expect(line.length("lease")).toBe(1);
	});

	test("lets the next one try when the first gives up", async () => {
		const { join, callers, lease, got } = setUp();
		await join("a", "b");
		lease.holder = "";
		callers.get("a")?.abort.abort(new Error("gone"));
		await settle();
		expect(got).toEqual(["b"]);
	});

	test("in the middle moves up those behind it, and they are told", async () => {
		const { join, callers } = setUp();
		await join("a", "b", "c");
		callers.get("b")?.abort.abort(new Error("gone"));
		await settle();
		expect(callers.get("c")?.places.map(({ position }) => position)).toEqual([3, 2]);
	});

	test("before it asked does not wait at all", async () => {
		const { line, attemptOf } = setUp();
		const options = { wait: true, signal: AbortSignal.abort(new Error("gone")) };
		await expect(line.acquire("lease", attemptOf("a"), options)).rejects.toThrow("gone");
		expect(line.length("lease")).toBe(0);
	});

	test("in the middle of an attempt that succeeds gets the Lease, for its agent to give back", async () => {
		const { ask, callers, lease } = setUp();
		const slow = Promise.withResolvers<AcquireOutcome & { kind: "acquired" }>();
		const asked = ask("a", (handover) =>
			handover
				? slow.promise
				: Promise.resolve({ kind: "held", position: 1, holder: lease.holder, heldForMs: 0, retryAfterMs: 1 }),
		);
		await settle();
		callers.get("a")?.abort.abort(new Error("gone"));
		slow.resolve(acquired);
		expect(await asked).toBe(acquired);
	});

	test("in the middle of an attempt that fails leaves the line at once, and hears no more of it", async () => {
		const { ask, callers, line } = setUp();
		const slow = Promise.withResolvers<void>();
		const asked = ask("a", async (handover) => {
			if (handover) await slow.promise;
			return { kind: "held", position: 1, holder: "drain-7f", heldForMs: 0, retryAfterMs: 10_000 };
		}).catch((error: unknown) => error);
		await settle();
		callers.get("a")?.abort.abort(new Error("gone"));
		slow.resolve();
		expect(await asked).toEqual(new Error("gone"));
		expect(line.length("lease")).toBe(0);
		expect(callers.get("a")?.places).toEqual([]);
	});

	test("with a failed attempt leaves the line, and the next one tries", async () => {
		const { ask, join, lease, got } = setUp();
		let failing: () => void = () => undefined;
		const failed = ask("a", async (handover) => {
			if (handover) await new Promise<void>((resolve) => (failing = resolve));
			if (handover) throw new Error("no answer");
			return { kind: "held", position: 1, holder: "drain-7f", heldForMs: 0, retryAfterMs: 1 };
		});
		const caught = failed.catch((error: unknown) => error);
		await settle();
		await join("b");
		lease.holder = "";
		failing();
		expect(await caught).toEqual(new Error("no answer"));
		await settle();
		expect(got).toEqual(["b"]);
	});
});

describe("WaitingLine tells", () => {
	test("each caller its place, the holder, and for how long that one has had the Lease", async () => {
		const { clock, join, callers } = setUp();
		clock.advance(400);
		await join("a", "b");
		expect(callers.get("a")?.places).toEqual([{ kind: "held", position: 1, holder: "drain-7f", heldForMs: 400 }]);
		expect(callers.get("b")?.places).toEqual([{ kind: "held", position: 2, holder: "drain-7f", heldForMs: 400 }]);
	});

	test("it again every second: time goes on for those behind, too", async () => {
		const { clock, join, callers } = setUp();
		await join("a", "b");
		clock.advance(1_000);
		await settle();
		clock.advance(1_000);
		await settle();
		expect(callers.get("b")?.places.map(({ heldForMs }) => heldForMs)).toEqual([0, 1_000, 2_000]);
	});

	test("those behind of the new holder", async () => {
		const { join, free, callers } = setUp();
		await join("a", "b");
		free();
		await settle();
		expect(callers.get("b")?.places.at(-1)).toMatchObject({ position: 1, holder: "a" });
	});
});

describe("WaitingLine wakes", () => {
	test("who is next when the Lease changes, without waiting for a timer", async () => {
		const { join, free, got } = setUp();
		await join("a");
		free();
		await settle();
		expect(got).toEqual(["a"]);
	});

	test("who is next when the Lease changed during its attempt", async () => {
		const { line, lease, ask, attemptOf, got } = setUp();
		const attempt = attemptOf("a");
		const asked = ask("a", async (handover) => {
			const outcome = await attempt(handover);
			// The Lease becomes free after the attempt has read it and before the caller sleeps.
			if (handover && lease.holder === "drain-7f") {
				lease.holder = "";
				line.wake("lease");
			}
			return outcome;
		});
		await settle();
		expect(got).toEqual(["a"]);
		await asked;
	});

	test("who is next after a second at the latest: the watch may be dead", async () => {
		const { clock, join, lease, got } = setUp();
		await join("a");
		lease.holder = "";
		clock.advance(999);
		await settle();
		expect(got).toEqual([]);
		clock.advance(1);
		await settle();
		expect(got).toEqual(["a"]);
	});

	test("who is next when the holding ends, if that is sooner", async () => {
		const { clock, join, lease, attempts } = setUp();
		lease.heldSince -= 9_900;
		await join("a");
		const before = attempts.length;
		clock.advance(100);
		await settle();
		expect(attempts.length).toBe(before + 1);
	});

	test("nobody where nobody waits", () => expect(() => setUp().line.wake("lease")).not.toThrow());

	test("leaves no listeners behind at a signal that lasts", async () => {
		const { line, clock, attemptOf, lease } = setUp();
		const { signal } = new AbortController();
		const asked = line.acquire("lease", attemptOf("a"), { wait: true, signal });
		for (let seconds = 0; seconds < 20; seconds += 1) {
			await settle();
			clock.advance(1_000);
		}
		lease.holder = "";
		line.wake("lease");
		await asked;
		expect(getEventListeners(signal, "abort")).toEqual([]);
	});
});
