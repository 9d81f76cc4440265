import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { commands } from "../../../plugin/command-table.ts";
import type { CommandInput } from "../../../plugin/flags/command.ts";
import {
	formatOperation,
	isOperationId,
	newHolder,
	newOperationId,
	type Operation,
	parseOperation,
} from "../../../plugin/nodes/operation.ts";
import { flagWords, operationFlags, readOperationFlags, resumeInput } from "../../../plugin/nodes/operation-flags.ts";

const operation: Operation = {
	id: "7f3c2a",
	state: "draining",
	by: "alice@laptop",
	since: "2026-01-01T00:00:00.000Z",
	nodes: 2,
	fleet: "f1",
	flags: { "ignore-daemonsets": true, timeout: 60_000 },
	typedAgain: [],
	cordonedBefore: false,
};

async function inputOf(...argv: readonly string[]): Promise<CommandInput> {
	const parsed = await parseCommandLine(argv);
	if (parsed.kind !== "command") throw new Error("help");
	return parsed.input;
}

describe("parseOperation()", () => {
	test("reads what formatOperation() writes", () => {
		expect(parseOperation(formatOperation(operation))).toEqual({ kind: "operation", operation });
	});

	test("writes version 2 with the holder, which version 0.1 takes for a later one and does not touch", () => {
		const held = { ...operation, holder: newHolder() };
		const text = formatOperation(held);
		expect(JSON.parse(text)).toMatchObject({ version: 2, holder: held.holder });
		expect(parseOperation(text)).toEqual({ kind: "operation", operation: held });
	});

	const changed = (change: Readonly<Record<string, unknown>>): string =>
		JSON.stringify({ ...(JSON.parse(formatOperation(operation)) as object), ...change });
	const rows: readonly { readonly name: string; readonly text: string; readonly kind: string }[] = [
		{ name: "a later version is not understood", text: changed({ version: 3 }), kind: "later" },
		{ name: "version 2 without a holder", text: changed({ version: 2 }), kind: "garbled" },
		{ name: "version 1 with one", text: changed({ holder: "00112233445566aa" }), kind: "garbled" },
		{ name: "a holder that is none", text: changed({ version: 2, holder: "alice" }), kind: "garbled" },
		{ name: "version 2", text: changed({ version: 2, holder: "00112233445566aa" }), kind: "operation" },
		{ name: "text that moves a terminal's cursor", text: changed({ by: "bob\u001b[2J" }), kind: "garbled" },
		{ name: "a time that is none", text: changed({ since: "yesterday" }), kind: "garbled" },
		{ name: "no JSON", text: "{", kind: "garbled" },
		{ name: "no object", text: "[]", kind: "garbled" },
		{ name: "another id", text: changed({ id: "../x" }), kind: "garbled" },
		{ name: "another state", text: changed({ state: "done" }), kind: "garbled" },
		{ name: "a field is missing", text: changed({ cordonedBefore: undefined }), kind: "garbled" },
		{ name: "flags that are no flags", text: changed({ flags: ["force"] }), kind: "garbled" },
		{ name: "a field that is not known yet", text: changed({ why: "patch day" }), kind: "operation" },
	];
	for (const { name, text, kind } of rows) test(name, () => expect(parseOperation(text).kind).toBe(kind));
});

test("formatOperation() stays far below what annotations may be, whatever is in it", () => {
	const text = formatOperation({ ...operation, by: "x".repeat(100_000) });
	expect(text.length).toBeLessThan(2_048);
});

test("newOperationId() makes ids of operations", () => {
	expect(isOperationId(newOperationId())).toBe(true);
	for (const id of ["", "7F3C2A", "7f3c", "7f3c2a ", "latest"]) expect(isOperationId(id)).toBe(false);
});

describe("readOperationFlags()", () => {
	test("remembers what was typed, but not what may do harm, tells whom or is secret", async () => {
		const kept = ["--ignore-daemonsets", "--timeout=1m", "--force", "--delete-emptydir-data=false"];
		const own = ["--token=secret", "--kubeconfig=/home/alice/.kube/config", "--contexts=eu,us", "-o", "json", "-y"];
		const input = await inputOf("drain", "n1", ...kept, ...own);
		const flags = readOperationFlags(input);
		expect(flags).toEqual({ flags: { "ignore-daemonsets": true, timeout: 60_000 }, typedAgain: ["force"] });
	});

	test("a text too long to keep is typed again", async () => {
		const selector = `app=${"x".repeat(2_000)}`;
		const input = await inputOf("drain", "n1", `--pod-selector=${selector}`);
		const { flags, typedAgain } = readOperationFlags(input);
		expect({ flags, typedAgain }).toEqual({ flags: {}, typedAgain: ["pod-selector"] });
		expect(flagWords(typedAgain, input)).toEqual([`--pod-selector=${selector}`]);
	});

	test("knows of every flag of drain whether it is kept, typed again or neither", () => {
		const { kept, typedAgain, notKept } = operationFlags;
		const known = [...Object.keys(kept), ...typedAgain, ...notKept];
		const flags = Object.keys(commands.find(({ name }) => name === "drain")?.flags ?? {});
		expect(flags.toSorted()).toEqual(known.toSorted());
	});
});

describe("resumeInput()", () => {
	test("goes on with the flags of the run; those typed now win", async () => {
		const typed = await inputOf("drain", "--resume=7f3c2a", "--timeout=5s");
		const { flags, given } = resumeInput(typed, operation);
		expect(flags).toMatchObject({ "ignore-daemonsets": true, timeout: 5_000 });
		expect([...given]).toEqual(["resume", "timeout", "ignore-daemonsets"]);
	});

	test("names the flags that must be typed again, and how", async () => {
		const risky = { ...operation, typedAgain: ["force", "delete-emptydir-data"] };
		const typed = await inputOf("drain", "--resume=7f3c2a", "--force", "--contexts=eu,us");
		expect(() => resumeInput(typed, risky)).toThrow(
			expect.objectContaining({
				message:
					'operation "7f3c2a" was begun with --delete-emptydir-data, which must be typed again; nothing was touched',
				hint: "Continue: kubectl xpdb drain --resume 7f3c2a --force --delete-emptydir-data --contexts=eu,us",
			}),
		);
		const whole = await inputOf("drain", "--resume=7f3c2a", "--force", "--delete-emptydir-data=false");
		expect(resumeInput(whole, risky).flags).toMatchObject({ force: true, "delete-emptydir-data": false });
	});

	test("takes no grace period from a node, says so, and how to give it", async () => {
		const written = readOperationFlags(await inputOf("drain", "n1", "--grace-period=0"));
		expect(written).toEqual({ flags: {}, typedAgain: ["grace-period"] });
		const earlier = { flags: { "grace-period": 0 }, typedAgain: [] };
		for (const annotated of [written, earlier]) {
			const typed = await inputOf("drain", "--resume=7f3c2a");
			expect(() => resumeInput(typed, { ...operation, ...annotated })).toThrow(
				expect.objectContaining({
					message:
						'operation "7f3c2a" was begun with --grace-period=..., which must be typed again; nothing was touched',
					hint: "Continue: kubectl xpdb drain --resume 7f3c2a --grace-period=...",
				}),
			);
			const whole = await inputOf("drain", "--resume=7f3c2a", "--grace-period=30");
			expect(resumeInput(whole, { ...operation, ...annotated }).flags).toMatchObject({ "grace-period": 30 });
		}
	});

	test("takes nothing harmful from a node, and no flag of another kind", async () => {
		const typed = await inputOf("drain", "--resume=7f3c2a");
		const forged = { ...operation, flags: { force: true, "disable-eviction": true, server: "https://evil" } };
		expect(resumeInput(typed, forged).flags).toEqual(typed.flags);
		const wrong = { ...operation, flags: { timeout: "soon" } };
		expect(() => resumeInput(typed, wrong)).toThrow("--timeout that is not a number");
	});
});
