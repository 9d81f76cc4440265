import { describe, expect, test } from "vitest";
import type { UsedBy } from "../../../plugin/events/events.ts";
import { usedByKey, usedByNames, usedByText, waitText } from "../../../plugin/events/used-by-text.ts";

const at = Date.parse("2026-01-01T00:10:00Z");
const ago = (seconds: number): number => at / 1_000 - seconds;
const pod = { cluster: "c2", namespace: "shop", pod: "cart-1", why: "NotReady" } as const;
const bob = { holder: "bob@host drain 11aa" };
const words = "0/3 nodes are available: 3 node(s) were unschedulable. preemption: 0/3 nodes are available.";
const pending: UsedBy = { ...pod, state: "Pending", sinceSeconds: ago(560), message: words };

describe("usedByText()", () => {
	const rows: readonly { readonly name: string; readonly used: UsedBy; readonly expected: string }[] = [
		{
			name: "a pod that no node takes, in the scheduler's words up to preemption",
			used: pending,
			expected: "Pending 9m, 0/3 nodes are available: 3 node(s) were unschedulable",
		},
		{ name: "a pod that starts", used: { ...pod, state: "Init:0/1", sinceSeconds: ago(3) }, expected: "Init:0/1 3s" },
		{
			name: "a pod that runs",
			used: { ...pod, state: "Running", sinceSeconds: ago(27) },
			expected: "Running, not ready 27s",
		},
		{
			name: "a pod that crashes, for hours",
			used: { ...pod, state: "CrashLoopBackOff", sinceSeconds: ago(3 * 3_600 + 9) },
			expected: "CrashLoopBackOff 3h",
		},
		{
			name: "a reserved pod, and for whom",
			used: { ...pod, ...bob, why: "Reserved", state: "Reserved", sinceSeconds: ago(2) },
			expected: "being evicted by bob@host drain 11aa for 2s",
		},
		{
			name: "a pod that this run evicts",
			used: { ...pod, ...bob, own: true, why: "Reserved", state: "Reserved", sinceSeconds: ago(2) },
			expected: "being evicted by this run for 2s",
		},
		{
			name: "a pod that terminates, and who evicted it",
			used: { ...pod, ...bob, why: "Terminating", state: "Terminating", sinceSeconds: ago(12) },
			expected: "Terminating 12s, evicted by bob@host drain 11aa",
		},
		{
			name: "a pod that terminates, for whatever reason",
			used: { ...pod, why: "Terminating", state: "Terminating", sinceSeconds: ago(2 * 86_400) },
			expected: "Terminating 2d",
		},
		{
			name: "a reserved pod, by an earlier agent",
			used: { ...pod, ...bob, why: "Reserved", sinceSeconds: ago(2) },
			expected: "being evicted by bob@host drain 11aa for 2s",
		},
		{
			name: "a pod that terminates, by an earlier agent",
			used: { ...pod, ...bob, why: "Terminating", sinceSeconds: ago(12) },
			expected: "terminating, evicted by bob@host drain 11aa 12s ago",
		},
		{ name: "a pod that is not ready, by an earlier agent", used: pod, expected: "not ready" },
	];
	for (const { name, used, expected } of rows) {
		test(`tells of ${name}`, () => expect(usedByText([used], { at })).toBe(`shop/cart-1 in c2: ${expected}`));
	}

	test("has no more than three pods, or as many as there is room for", () => {
		const four = ["a", "b", "c", "d"].map((name): UsedBy => ({ ...pending, pod: name, message: "no" }));
		expect(usedByText(four, { at })).toBe(
			"shop/a in c2: Pending 9m, no; shop/b in c2: Pending 9m, no; shop/c in c2: Pending 9m, no and 1 more",
		);
		expect(usedByText(four, { at, most: 1, brief: true })).toBe("shop/a in c2: Pending 9m and 3 more");
		expect(usedByNames(four)).toBe("shop/a in c2, shop/b in c2, shop/c in c2 and 1 more");
		expect([usedByText([], { at }), usedByNames([])]).toEqual(["", ""]);
	});
});

test("waitText() names who keeps a pod waiting, where somebody does", () => {
	const message = "budget shop/cart has no disruption left: 2 of 3 healthy, 2 required";
	expect(waitText({ message }, at)).toBe(message);
	expect(waitText({ message, usedBy: [pod] }, at)).toBe(`${message}; used by shop/cart-1 in c2: not ready`);
});

describe("usedByKey()", () => {
	const key = (...usedBy: readonly UsedBy[]): string => usedByKey(usedBy);
	const crashed: UsedBy = { ...pod, state: "CrashLoopBackOff" };
	const reserved: UsedBy = { ...pod, ...bob, why: "Reserved" };

	const same: readonly { readonly name: string; readonly one: string; readonly other: string }[] = [
		{ name: "an age passes", one: key(pending), other: key({ ...pending, sinceSeconds: 7 }) },
		{
			name: "a pod starts step by step",
			one: key({ ...pod, state: "Pending" }),
			other: key({ ...pod, state: "Running" }),
		},
		{ name: "a container crashes again", one: key(crashed), other: key({ ...pod, state: "Error" }) },
		{
			name: "preemption says something else",
			one: key(pending),
			other: key({ ...pending, message: words.slice(0, 70) }),
		},
		{ name: "somebody's pod terminates", one: key(reserved), other: key({ ...reserved, why: "Terminating" }) },
		{
			name: "this run goes on to another pod",
			one: key({ ...reserved, own: true }),
			other: key({ ...reserved, own: true, pod: "cart-2" }),
		},
		{ name: "they come in another order", one: key(pending, reserved), other: key(reserved, pending) },
	];
	for (const { name, one, other } of same) test(`is the same when ${name}`, () => expect(other).toBe(one));

	const others: readonly { readonly name: string; readonly one: string; readonly other: string }[] = [
		{ name: "another pod is down", one: key(pod), other: key({ ...pod, pod: "cart-2" }) },
		{ name: "one more is", one: key(pod), other: key(pod, { ...pod, cluster: "c3" }) },
		{ name: "nobody is any more", one: key(pod), other: key() },
		{ name: "the scheduler says something else", one: key(pending), other: key({ ...pending, message: "no" }) },
		{ name: "a pod begins to crash", one: key({ ...pod, state: "Running" }), other: key(crashed) },
		{ name: "somebody else evicts", one: key(reserved), other: key({ ...reserved, holder: "eve@host evict 22bb" }) },
	];
	for (const { name, one, other } of others) test(`is another when ${name}`, () => expect(other).not.toBe(one));
});
