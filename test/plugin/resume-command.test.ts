import { expect, test } from "vitest";
import { readGlobalFlags } from "../../plugin/global-flags.ts";
import { resumeCommand, undoCommand } from "../../plugin/resume-command.ts";

test("resumeCommand() is the same command, quoted for a shell", () => {
	expect(resumeCommand(["drain", "-l", "pool in (a, b)", "--contexts=eu,us", "it's"])).toBe(
		`kubectl xpdb drain -l 'pool in (a, b)' --contexts=eu,us 'it'\\''s'`,
	);
});

test("undoCommand() names the same contexts", () => {
	expect(undoCommand(["eu/n1", "us/n2"], readGlobalFlags({ contexts: ["eu", "us"] }))).toBe(
		"kubectl xpdb uncordon eu/n1 us/n2 --contexts=eu,us",
	);
	expect(undoCommand(["n1"], readGlobalFlags({ context: "eu", kubeconfig: "/tmp/k" }))).toBe(
		"kubectl xpdb uncordon n1 --context=eu --kubeconfig=/tmp/k",
	);
});
