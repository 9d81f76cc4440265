import { describe, expect, test } from "vitest";
import { PodStore } from "../../agent/views/pod-view.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { evidenceOf, type Reservation } from "../../disruption/lease/reservation.ts";
import { newReservation } from "../support/build-lease.ts";
import { newPod } from "../support/build-pod.ts";
import { createManualClock } from "../support/manual-clock.ts";

type Event = readonly ["ADDED" | "MODIFIED" | "DELETED", PodRecord];

/** Returns a view that listed these pods at this version and has seen these events since. */
function viewOf(
	listed: readonly PodRecord[],
	listedAt: string,
	events: readonly Event[] = [],
	bookmark = "",
): PodStore {
	const clock = createManualClock();
	const view = new PodStore({ clock });
	view.replace(listed, listedAt);
	for (const [type, object] of events) view.apply({ type, object, resourceVersion: object.resourceVersion });
	if (bookmark !== "") view.bookmark(bookmark);
	return view;
}

describe("evidenceOf()", () => {
	const granted = newPod("db-0", { resourceVersion: "100" });
	const at = (resourceVersion: string, more: Partial<PodRecord> = {}) => ({ ...granted, ...more, resourceVersion });
	const replacement = newPod("db-0", { uid: "uid-of-the-next-one", resourceVersion: "130" });

	interface Row {
		readonly name: string;
		readonly view: PodStore;
		readonly reservation?: Partial<Reservation>;
		/** The version of the evidence. Undefined if there is none. */
		readonly expected: string | undefined;
	}
	const rows: readonly Row[] = [
		{ name: "none while the pod is alive", view: viewOf([granted], "100"), expected: undefined },
		{
			name: "none while the pod is alive, however far the view has come",
			view: viewOf([granted], "100", [], "900"),
			expected: undefined,
		},
		{
			name: "none where the pod is not ready any more: it may become ready again",
			view: viewOf([granted], "100", [["MODIFIED", at("110", { ready: false })]]),
			expected: undefined,
		},
		{
			name: "none where the pod has left the budget's selector",
			view: viewOf([granted], "100", [["MODIFIED", at("110", { labels: {} })]]),
			expected: undefined,
		},
		{
			name: "a pod that terminates, at that version",
			view: viewOf([granted], "100", [["MODIFIED", at("110", { terminating: true })]], "900"),
			expected: "110",
		},
		{
			name: "a pod that has finished, at that version",
			view: viewOf([granted], "100", [["MODIFIED", at("110", { finished: true })]], "900"),
			expected: "110",
		},
		{
			name: "a deleted pod, at the version of its deletion and not of the view",
			view: viewOf([granted], "100", [["DELETED", at("120")]], "900"),
			expected: "120",
		},
		{
			name: "a pod that the next list lacks, at the list's version: nobody saw when it went",
			view: viewOf([], "150"),
			expected: "150",
		},
		{
			name: "a replaced pod, at a version that shows the replacement",
			view: viewOf([granted], "100", [
				["DELETED", at("120")],
				["ADDED", replacement],
			]),
			expected: "130",
		},
		{
			name: "a replaced pod whose deletion was listed over",
			view: viewOf([replacement], "140"),
			expected: "140",
		},
		{
			name: "none in a view that lags behind the reservation, where the pod was not born yet",
			view: viewOf([], "90"),
			expected: undefined,
		},
		{
			name: "none in a view that lags behind, where an earlier pod of the name is still alive",
			view: viewOf([newPod("db-0", { uid: "uid-of-the-last-one", resourceVersion: "40" })], "90"),
			expected: undefined,
		},
		{
			name: "none in a view that lags behind, where an earlier pod of the name terminates",
			view: viewOf([newPod("db-0", { uid: "uid-of-the-last-one", resourceVersion: "40", terminating: true })], "90"),
			expected: undefined,
		},
		{
			// As text, "99" would be greater than "100".
			name: "none in a view that lags behind by a digit",
			view: viewOf([], "99"),
			expected: undefined,
		},
		{ name: "a view that is just as far as the reservation", view: viewOf([], "100"), expected: "100" },
		{
			name: "a view of a version longer than any number of JavaScript",
			view: viewOf([], "123456789012345678901234567891"),
			reservation: { resourceVersion: "123456789012345678901234567890" },
			expected: "123456789012345678901234567891",
		},
		{
			name: "none where another pod of the namespace is gone",
			view: viewOf([granted, newPod("db-1")], "100", [["DELETED", newPod("db-1", { resourceVersion: "110" })]]),
			expected: undefined,
		},
		{
			name: "a marked reservation's pod that is gone: whoever cancels it need not go on",
			view: viewOf([granted], "100", [["DELETED", at("120")]]),
			reservation: { cancelling: true },
			expected: "120",
		},
	];
	for (const { name, view, reservation, expected } of rows) {
		test(name, () => {
			expect(evidenceOf(newReservation("db-0", reservation), "shop", view)).toBe(expected);
		});
	}

	test("none before the first list", () => {
		const clock = createManualClock();
		const view = new PodStore({ clock });
		expect(evidenceOf(newReservation("db-0"), "shop", view)).toBeUndefined();
	});

	test("none where the pod of that uid is in another namespace: there is no version that proves it gone", () => {
		const view = viewOf([newPod("db-0", { namespace: "bank" })], "900");
		expect(evidenceOf(newReservation("db-0"), "shop", view)).toBeUndefined();
	});
});
