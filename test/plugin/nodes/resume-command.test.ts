import { expect, test } from "vitest";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { resumeEvictCommand, typedCommand, undoCommand } from "../../../plugin/nodes/resume-command.ts";

const given = (flags: Readonly<Record<string, unknown>>) => new SuggestedCommands(readGlobalFlags(flags));

test("typedCommand() is the same command, quoted for a shell", () => {
	expect(typedCommand(["drain", "-l", "pool in (a, b)", "--contexts=eu,us", "it's"])).toBe(
		`kubectl xpdb drain -l 'pool in (a, b)' --contexts=eu,us 'it'\\''s'`,
	);
});

test("typedCommand() shows no token and no password", () => {
	expect(typedCommand(["drain", "n1", "--token", "s3cret", "--password=s3cret", "--token=s3cret"])).toBe(
		"kubectl xpdb drain n1 --token ... --password=... --token=...",
	);
});

test("undoCommand() names the same contexts", () => {
	expect(
		undoCommand(
			[
				{ context: "eu", node: "n1" },
				{ context: "us", node: "n2" },
			],
			given({ contexts: ["eu", "us"] }),
		),
	).toBe("kubectl xpdb uncordon eu/n1 us/n2 --contexts=eu,us");
	expect(undoCommand([{ context: "eu", node: "n1" }], given({ context: "eu", kubeconfig: "/tmp/k" }))).toBe(
		"kubectl xpdb uncordon n1 --context=eu --kubeconfig=/tmp/k",
	);
});

test("undoCommand() names the same agents, where they are not the usual ones", () => {
	const suggest = given({ context: "eu", "agent-namespace": "agents", "agent-account": "team-shop" });
	expect(undoCommand([{ context: "eu", node: "n1" }], suggest)).toBe(
		"kubectl xpdb uncordon n1 --context=eu --agent-namespace=agents --agent-account=team-shop",
	);
});

test("resumeEvictCommand() names the pods that are left, a command for each namespace", () => {
	const left = [
		{ context: "eu", namespace: "shop", pod: "db-1" },
		{ context: "us", namespace: "shop", pod: "db-0" },
		{ context: "us", namespace: "web", pod: "x" },
	];
	expect(resumeEvictCommand(left, given({ contexts: ["eu", "us"] }))).toBe(
		"kubectl xpdb evict eu/db-1 us/db-0 -n shop --contexts=eu,us && kubectl xpdb evict us/x -n web --contexts=eu,us",
	);
	expect(resumeEvictCommand(left.slice(0, 1), given({}))).toBe("kubectl xpdb evict db-1 -n shop");
});
