import { describe, expect, test } from "vitest";
import { renewExpired } from "../../../plugin/fleet/diagnose-command.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";

describe("renewExpired()", () => {
	const suggest = new SuggestedCommands(readGlobalFlags({ contexts: ["eu", "us"], "agent-namespace": "budgets" }));

	test("names the command that renews, in the contexts of this one: one of them may have the CA", () => {
		expect(renewExpired("no connection: certificate has expired", suggest)).toBe(
			"kubectl xpdb install certs --rotate --contexts=eu,us --agent-namespace=budgets",
		);
	});

	test("has nothing to say of other troubles", () => {
		expect(renewExpired("no connection within 5 s", suggest)).toBeUndefined();
	});
});
