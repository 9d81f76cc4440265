import { describe, expect, test } from "vitest";
import { WatchPlace } from "../../../agent/kubernetes/watch-place.ts";

describe("WatchPlace", () => {
	test("goes on from where it was over the same session, and over no other one", () => {
		const place = new WatchPlace();
		expect(place.resumeFrom(1)).toBe("");
		place.reached("10", 1);
		expect([1, 2].map((session) => place.resumeFrom(session))).toEqual(["10", ""]);
		place.reached("12", 2);
		expect([1, 2].map((session) => place.resumeFrom(session))).toEqual(["", "12"]);
	});

	test("says whether there was anything to forget", () => {
		const place = new WatchPlace();
		expect(place.forget()).toBe(false);
		place.reached("10", 1);
		expect([place.forget(), place.forget(), place.resumeFrom(1)]).toEqual([true, false, ""]);
	});
});
