import { describe, expect, test } from "vitest";
import { suspensionEvent } from "../../../plugin/fleet/suspension-event.ts";
import { newContext } from "../../support/build-context.ts";

const target = {
	context: newContext("eu"),
	cluster: "europe",
	name: { namespace: "shop", name: "db" },
	found: {
		uid: "0d1f",
		resourceVersion: "7",
		suspended: false,
		suspend: undefined,
		annotation: undefined,
		suspension: undefined,
	},
};
const note = {
	suspend: true,
	by: "alice@laptop",
	at: Date.parse("2026-01-01T00:00:00.120Z"),
	reason: "migration",
	clusters: ["europe", "us"],
};

describe("suspensionEvent()", () => {
	test("has a name that an API server takes, however long the budget's is", () => {
		const name = { namespace: "shop", name: `${"d".repeat(219)}.${"b".repeat(33)}` };
		expect(suspensionEvent({ ...target, name }, note)).toMatchObject({
			metadata: { name: `${"d".repeat(219)}.18867251f5210e00` },
		});
	});

	test("says who let the budget hold nothing back, where and why", () => {
		expect(suspensionEvent(target, note)).toEqual({
			apiVersion: "events.k8s.io/v1",
			kind: "Event",
			metadata: { name: "db.18867251f5210e00", namespace: "shop" },
			eventTime: "2026-01-01T00:00:00.120000Z",
			reportingController: "xpdb.form3.tech/kubectl-xpdb",
			reportingInstance: "alice@laptop",
			action: "Suspend",
			reason: "Suspended",
			type: "Warning",
			regarding: {
				apiVersion: "x-pdb.form3.tech/v1alpha1",
				kind: "XPodDisruptionBudget",
				namespace: "shop",
				name: "db",
				uid: "0d1f",
			},
			note: "budget shop/db was suspended by alice@laptop in europe, us, it blocks no eviction: migration",
		});
	});

	test("says nothing that an API server would refuse: 1,024 bytes of note, 128 characters of who", () => {
		const event = suspensionEvent(target, { ...note, by: "å".repeat(900), reason: "語".repeat(500) }) as {
			readonly note: string;
			readonly reportingInstance: string;
		};
		expect(Buffer.byteLength(event.note)).toBeLessThanOrEqual(1_024);
		expect(event.note).not.toContain("\ufffd");
		expect(event.reportingInstance).toHaveLength(128);
	});
});
