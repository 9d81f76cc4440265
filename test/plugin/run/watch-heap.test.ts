import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepHeapSmall } from "../../../plugin/run/watch-heap.ts";

const program = fileURLToPath(import.meta.resolve("./changing-rows.ts"));
/** As in scripts/executable/build-executable.ts. */
const shipped = ["--min-semi-space-size=8", "--max-semi-space-size=16", "--no-memory-reducer"];

describe("keepHeapSmall", () => {
	beforeEach(() => void vi.useFakeTimers());
	afterEach(() => void vi.useRealTimers());

	it("limits the heap once, when the start is over", () => {
		const limit = vi.fn<() => void>();
		keepHeapSmall(limit);
		vi.advanceTimersByTime(7_999);
		expect(limit).not.toHaveBeenCalled();
		vi.advanceTimersByTime(600_000);
		expect(limit).toHaveBeenCalledTimes(1);
	});

	it("leaves the heap alone where the watch is over before", () => {
		const limit = vi.fn<() => void>();
		keepHeapSmall(limit)();
		vi.advanceTimersByTime(600_000);
		expect(limit).not.toHaveBeenCalled();
	});
});

describe("limitHeap", () => {
	it("keeps rows that change from taking what would hold a hundred thousand of them", async () => {
		const [limited, unlimited] = await Promise.all([oldMegabytes("limited"), oldMegabytes("unlimited")]);
		expect(unlimited).toBeGreaterThan(60);
		expect(limited).toBeLessThan(unlimited / 2);
	});
});

/** Returns the maximum size of V8's old space while rows change, in megabytes. */
async function oldMegabytes(way: "limited" | "unlimited"): Promise<number> {
	const { stdout } = await promisify(execFile)(process.execPath, [...shipped, program, way]);
	return Number(stdout);
}
