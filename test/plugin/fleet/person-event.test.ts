import { describe, expect, test } from "vitest";
import { personEvent } from "../../../plugin/fleet/person-event.ts";

const event = {
	regarding: { apiVersion: "v1", kind: "Secret", namespace: "shop", name: "db", uid: "0d1f" },
	at: 0,
	by: "alice@laptop",
	action: "Suspend",
	reason: "Suspended",
	type: "Normal",
} as const;

const full = "a".repeat(1_024);
const front = (bytes: number): string => "a".repeat(bytes);

describe("personEvent() cuts its note after the last whole character of 1,024 bytes", () => {
	test.each([
		{ what: "not at all where it fits", note: full, shown: full },
		{ what: "after the last letter", note: `${full}b`, shown: full },
		{ what: "after a character of three bytes", note: `${front(1_021)}語語`, shown: `${front(1_021)}語` },
		{ what: "before a character that has one byte too many", note: `${front(1_022)}語`, shown: front(1_022) },
		{ what: "before a character that has three bytes too many", note: `${front(1_023)}😀`, shown: front(1_023) },
	])("$what", ({ note, shown }) => {
		expect(personEvent({ ...event, note })).toMatchObject({ note: shown });
	});
});
