import { describe, expect, test } from "vitest";
import { howToGoOn } from "../../../plugin/install/how-to-go-on.ts";
import { newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";

const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } };
const some = { applied: [{ context: "eu", change: { kind: "created", object } }], unsure: [] } as const;
const bare = newFoundCluster(newContext("eu"));
const fleet = { members: [{ id: "id-eu", name: "eu" }], forgotten: [] };
const member = newFoundCluster(newContext("us"), { fleet, image: "example.com/agent:1" });

describe("howToGoOn()", () => {
	test("suggests uninstall after an installation into clusters that had nothing", () => {
		expect(howToGoOn("install", [bare], some)).toEqual([
			"What is listed above was applied, and stands. Run the same command to continue; to undo it: kubectl xpdb uninstall --context eu",
		]);
	});

	const fleets = [
		{ name: "an upgrade", command: "upgrade", found: [member] },
		{ name: "an extension", command: "install", found: [bare, member] },
		{
			name: "an installation over a list of members",
			command: "install",
			found: [newFoundCluster(bare.context, { fleet })],
		},
		{
			name: "an installation over agents",
			command: "install",
			found: [newFoundCluster(bare.context, { image: "a:1" })],
		},
	] as const;
	for (const { name, command, found } of fleets) {
		test(`never suggests uninstall after ${name}: it would remove a living fleet`, () => {
			const lines = howToGoOn(command, found, some);
			expect(lines[0]).toBe("What is listed above was applied, and stands. Run the same command to continue");
			expect(lines.join()).not.toContain("uninstall");
		});
	}

	test("says what may be there, and that nothing was touched", () => {
		expect(howToGoOn("install", [member], { applied: [], unsure: [{ context: "us", object }] })).toEqual([
			"us  namespace/xpdb-system may be applied or not: no answer came",
			"Run the same command to continue",
		]);
		expect(howToGoOn("upgrade", [member], { applied: [], unsure: [] })).toEqual([
			"Nothing was touched.",
			"The agents that were not replaced go on as they are.",
		]);
	});
});
