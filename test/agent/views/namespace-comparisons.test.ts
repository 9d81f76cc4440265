import { describe, expect, test } from "vitest";
import { NamespaceComparisons } from "../../../agent/views/namespace-comparisons.ts";

function setUp() {
	const running = new Set<string>();
	const recent = new Set<string>();
	const calls: string[] = [];
	const comparisons = new NamespaceComparisons((namespace) => [
		{
			get isRecent() {
				return recent.has(namespace);
			},
			get isIdle() {
				return !running.has(namespace);
			},
			wanted() {
				running.add(namespace);
				calls.push(`wanted ${namespace}`);
			},
			close: () => void calls.push(`close ${namespace}`),
		},
	]);
	const want = (count: number, prefix: string): void => {
		for (let index = 0; index < count; index += 1) comparisons.wanted(`${prefix}-${index}`);
	};
	return { comparisons, running, recent, calls, want };
}

describe("NamespaceComparisons", () => {
	test("compares 50 namespaces at most, whoever names a thousand", () => {
		const { comparisons, running, calls, want } = setUp();
		comparisons.wanted("shop");
		want(1_000, "made-up");
		expect(running.size).toBe(50);
		comparisons.wanted("shop");
		expect(calls.filter((call) => call === "wanted shop")).toHaveLength(2);
		expect(calls.filter((call) => call.startsWith("close"))).toEqual([]);
	});

	test("makes room by those for which nobody asks any more", () => {
		const { comparisons, running, calls, want } = setUp();
		want(50, "earlier");
		running.delete("earlier-7");
		comparisons.wanted("shop");
		expect(running.has("shop")).toBe(true);
		expect(calls.filter((call) => call.startsWith("close"))).toEqual(["close earlier-7"]);
	});

	test("is recent only where it was compared", () => {
		const { comparisons, recent, want } = setUp();
		recent.add("shop").add("beyond");
		comparisons.wanted("shop");
		want(49, "other");
		comparisons.wanted("beyond");
		expect([comparisons.isRecent("shop"), comparisons.isRecent("beyond")]).toEqual([true, false]);
	});
});
