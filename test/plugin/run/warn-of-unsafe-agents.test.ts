import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { warnOfUnsafeAgents } from "../../../plugin/run/warn-of-unsafe-agents.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";
import { description } from "../../support/samples.ts";

/** Returns the warnings about these fleets in turn. A fleet has the agents' versions by cluster name. */
function warningsOf(...fleets: readonly Readonly<Record<string, string>>[]): readonly string[] {
	const events: RunEvent[] = [];
	const warn = warnOfUnsafeAgents((event) => events.push(event));
	for (const versions of fleets) {
		const { members } = new FakeFleet(Object.keys(versions));
		const descriptions = new Map(
			members.map(({ id, name }) => [id, { ...description, version: versions[name] ?? "" }] as const),
		);
		warn({ members, descriptions });
	}
	return events.map((event) => (event.type === "diagnostic" && event.level === "warning" ? event.message : event.type));
}

const warning = (agents: string): string =>
	"agents older than version 0.2 can allow more disruptions than a budget permits, in every cluster of the fleet: " +
	`upgrade the agents of ${agents} (XPDB1319)`;

describe("warnOfUnsafeAgents()", () => {
	test("names the clusters whose agents are of 0.1, with their versions", () => {
		const versions = { ap: "0.1.0", eu: "0.2.0", us: "v0.1.7" };
		expect(warningsOf(versions)).toEqual([warning("ap (0.1.0), us (v0.1.7)")]);
	});

	test("is silent about every later version, and about what is no version", () => {
		expect(warningsOf({ a: "0.2.0", b: "0.10.0", c: "1.0.0", d: "v1.1.0", e: "", f: "main" })).toEqual([]);
	});

	test("names each cluster once, however often the fleet is asked again", () => {
		const fleet = { eu: "0.1.0", us: "0.2.0" };
		expect(warningsOf(fleet, fleet, { ...fleet, ap: "0.1.0" }, fleet)).toEqual([
			warning("eu (0.1.0)"),
			warning("ap (0.1.0)"),
		]);
	});
});
