import { describe, expect, test } from "vitest";
import { whyNotReady, whySlow } from "../../../agent/views/view-progress.ts";

const [live, dead] = [{ live: true }, { live: false }];
const listing = { forMs: 12_400, objects: 34_250 };
const idle = undefined;

describe("whyNotReady()", () => {
	for (const { name, views, connected, expected } of [
		{ name: "nothing while the watch is alive", views: { pods: live, synced: true, podList: idle }, connected: true },
		{
			name: "nothing while the watch is dead: counts come from lists",
			views: { pods: dead, synced: true, podList: listing },
			connected: true,
		},
		{
			name: "that there is no connection either",
			views: { pods: dead, synced: true, podList: idle },
			connected: false,
			expected: "There is no connection to the API server, and the watch on pods shows no sign of life",
		},
		{
			name: "how far the first list is",
			views: { pods: dead, synced: false, podList: listing },
			connected: true,
			expected: "The list of all pods is being read: 34,250 pods after 12 s",
		},
		{
			name: "that other lists are missing",
			views: { pods: live, synced: false, podList: idle },
			connected: true,
			expected: "The first lists of pods, Leases and budgets are not done",
		},
	]) {
		test(name, () => {
			expect(whyNotReady(views, { connected })).toBe(expected);
		});
	}
});

describe("whySlow()", () => {
	test("tells of the list that is read again, and of nothing else", () => {
		expect(whySlow({ pods: dead, podList: listing })).toBe(
			"its watch on pods broke, and 34,250 pods are read again after 12 s",
		);
		expect(whySlow({ pods: dead, podList: idle })).toBeUndefined();
		expect(whySlow({ pods: live, podList: listing })).toBeUndefined();
	});
});
