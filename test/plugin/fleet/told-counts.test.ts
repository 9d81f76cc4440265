import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Count } from "../../../disruption/budget/cluster.ts";
import { readToldCounts } from "../../../plugin/fleet/told-counts.ts";
import type { WatchOptions } from "../../../proto/agent-cluster.ts";
import { memberBudget, newCount, newSpec } from "../../support/build-count.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Tells `batch()` every two seconds, and never that this was all. */
function endlessMember(batch: () => readonly { readonly name: string; readonly state: Count }[]) {
	return {
		watchBudgets: (_: readonly string[], { signal, onUpdate }: WatchOptions) =>
			new Promise<never>((_resolve, reject) => {
				const beat = setInterval(() => {
					const changed = batch().map(({ name, state }) => ({
						budget: memberBudget(newSpec({ maxUnavailable: 1 }), { namespace: "shop", name }),
						state,
					}));
					onUpdate({ changed, gone: [], complete: false });
				}, 2_000);
				signal.addEventListener("abort", () => {
					clearInterval(beat);
					reject(signal.reason as Error);
				});
			}),
	};
}

describe("readToldCounts()", () => {
	test("returns what was told after 10 s, if the member never has told everything", async () => {
		const told = readToldCounts(
			endlessMember(() => [{ name: "db", state: newCount("eu", { healthy: 2 }) }]),
			[],
		);
		await vi.advanceTimersByTimeAsync(10_000);
		expect([...(await told)]).toMatchObject([["shop/db", { healthy: 2 }]]);
	});

	test("rejects where a member tells of more budgets than it may have", async () => {
		let next = 0;
		const thousands = () => Array.from({ length: 3_000 }, () => ({ name: `db-${next++}`, state: newCount("eu") }));
		const told = readToldCounts(endlessMember(thousands), []);
		const problem = told.catch((error: unknown) => error);
		await vi.advanceTimersByTimeAsync(10_000);
		expect(await problem).toMatchObject({ message: "it counts more than 5000 budgets" });
	});
});
