import { describe, expect, test } from "vitest";
import { budgetApi } from "../../../disruption/budget/budget.ts";
import { commands } from "../../../plugin/command-table.ts";
import { complete } from "../../../plugin/commands/complete.ts";
import type { openContexts } from "../../../plugin/kubernetes/open-contexts.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { createTimeLimit } from "../../support/time-limit.ts";
import { createScratchFolder } from "../kubernetes/scratch-folder.ts";

const named = ["eu", "us"].map((name) => ({ name, context: { cluster: name, user: name } }));
const kubeconfig = createScratchFolder("complete").write(
	"config",
	JSON.stringify({
		apiVersion: "v1",
		kind: "Config",
		"current-context": "eu",
		contexts: named,
		clusters: [],
		users: [],
	}),
);

const objects: Readonly<Record<string, readonly string[]>> = {
	"/api/v1/nodes": ["node-1", "node-2"],
	"/api/v1/namespaces": ["shop", "web"],
	"/api/v1/namespaces/shop/pods": ["db-0"],
	[`/apis/${budgetApi.group}/${budgetApi.version}/namespaces/shop/${budgetApi.resource}`]: ["db"],
};

async function completed(
	line: string,
	{ now = 0, get = answer }: { now?: number; get?: (path: string, never: () => unknown) => unknown } = {},
) {
	const { startTimer, never, limits } = createTimeLimit();
	const streams = collectStreams();
	const asked: unknown[] = [];
	const open: typeof openContexts = ({ context, contexts, namespace = "default" }) => {
		asked.push({ context, contexts, namespace });
		const names = contexts.length > 0 ? contexts : [context ?? "eu"];
		return names.map((name) => ({ ...newContext(name, newClient({ get: (path) => get(path, never) })), namespace }));
	};
	const env = { KUBECONFIG: kubeconfig };
	await complete(line.split(" "), { streams, env }, { commands, now: () => now, open, startTimer });
	const lines = streams.out().trimEnd().split("\n");
	return { values: lines.slice(0, -1).map((each) => each.split("\t")[0]), directive: lines.at(-1), asked, limits };
}

function answer(path: string): unknown {
	const items = objects[path.split("?")[0] ?? ""] ?? [];
	const operation = JSON.stringify({ version: 1 });
	return { items: items.map((name) => ({ metadata: { name, annotations: { "xpdb.form3.tech/other": operation } } })) };
}

describe("complete()", () => {
	const rows: readonly (readonly [line: string, values: readonly string[]])[] = [
		["dr", ["drain"]],
		["leases re", ["release"]],
		["leases release ", ["db"]],
		["completion ba", ["bash"]],
		["drain --dry-run=s", ["--dry-run=server"]],
		["drain --dry-run c", []],
		["drain --context ", ["eu", "us"]],
		["drain --contexts=eu,", ["--contexts=eu,us"]],
		["--contexts eu,u", ["eu,us"]],
		["drain -n s", ["shop"]],
		["drain ", ["node-1", "node-2"]],
		["drain --contexts=eu,us eu/", ["eu/node-1", "eu/node-2"]],
		["evict -n shop ", ["db-0"]],
		["-n shop --as drain evict ", ["db-0"]],
		["-l leases -n shop evict ", ["db-0"]],
		["-n drain ev", ["evict"]],
		["-n shop evict leases release ", ["db-0"]],
		["budgets -n shop ", ["db"]],
		["explain -n shop pod/", ["pod/db-0"]],
		["leases --no-h", ["--no-headers"]],
		["fleet ", ["list", "forget"]],
		["fleet l", ["list"]],
		["nothing-of-ours --no-such", []],
	];
	test.each(rows)("%s", async (line, values) => {
		const found = await completed(line.startsWith("leases release") ? `${line.trim()} -n shop ` : line);
		expect(found).toMatchObject({ values, directive: ":4" });
	});

	test("has the shell put no space behind what goes on", async () => {
		const { values, directive } = await completed("explain ");
		expect([values, directive]).toEqual([["pod/", "node/", "budget/"], ":6"]);
	});

	test("leaves files to the shell", async () => {
		for (const line of ["report ", "drain --report ", "drain --kubeconfig="]) {
			expect(await completed(line)).toMatchObject({ values: [], directive: ":0" });
		}
	});

	test("asks the contexts and the namespace that the line has", async () => {
		const { asked } = await completed("evict -n shop --context us ");
		expect(asked).toEqual([{ context: "us", contexts: [], namespace: "shop" }]);
	});

	test("does without what takes too long, what fails and what is no list, and never without what it knows", async () => {
		const never = (_: string, silent: () => unknown): unknown => silent();
		const fails = (): unknown => Promise.reject(new Error("no"));
		for (const options of [
			{ now: 151 },
			{ now: 150, get: never },
			{ get: fails },
			{ get: () => ({ items: [7, { metadata: {} }] }) },
		]) {
			expect(await completed("drain ", options)).toMatchObject({ values: [], directive: ":4" });
			expect(await completed("leases re", options)).toMatchObject({ values: ["release"] });
		}
	});

	test("asks nobody after a start that has taken most of the time", async () => {
		expect((await completed("drain ", { now: 150 })).asked).toHaveLength(1);
		expect(await completed("drain ", { now: 151 })).toMatchObject({ values: [], asked: [] });
	});

	test("waits for a cluster until 250 ms after the start", async () => {
		expect((await completed("drain ")).limits).toEqual([250]);
		expect((await completed("drain ", { now: 150 })).limits).toEqual([100]);
		expect((await completed("drain ", { now: 300 })).limits).toEqual([0]);
	});
});
