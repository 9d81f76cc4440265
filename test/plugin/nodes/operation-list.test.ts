import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import type { CommandInput } from "../../../plugin/flags/command.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import {
	type AnnotatedNode,
	findOperation,
	listAnnotatedNodes,
	missingNodes,
} from "../../../plugin/nodes/find-operation.ts";
import { formatOperation, type Operation, operationAnnotation } from "../../../plugin/nodes/operation.ts";
import { listOperations } from "../../../plugin/nodes/operation-list.ts";
import { resumeOperation } from "../../../plugin/nodes/resume-operation.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const mark: Operation = {
	id: "7f3c2a",
	state: "draining",
	by: "alice@laptop",
	since: "2026-01-01T00:00:00.000Z",
	nodes: 3,
	fleet: "f1",
	flags: { timeout: 5_000 },
	typedAgain: [],
	cordonedBefore: false,
};

interface FakeNode {
	readonly name: string;
	readonly mark?: Operation | string;
	readonly unschedulable?: boolean;
}

function contextOf(name: string, nodes: readonly FakeNode[]) {
	const list = nodes.map(({ name: node, mark: found, unschedulable = found !== undefined }) => ({
		metadata: {
			name: node,
			uid: node,
			...(found !== undefined && {
				annotations: { [operationAnnotation]: typeof found === "string" ? found : formatOperation(found) },
			}),
		},
		spec: { unschedulable },
	}));
	return newContext(name, newClient({ list: () => list }));
}

const drained: Operation = { ...mark, state: "drained" };
const older: Operation = {
	...mark,
	id: "0a0a0a",
	since: "2025-12-31T00:00:00.000Z",
	// The form of version 0.1.
	flags: { "grace-period": 0 },
	typedAgain: ["force", "pod-selector"],
};
const eu = contextOf("eu", [{ name: "n1", mark }, { name: "n2", mark: drained }, { name: "n3" }]);
const us = contextOf("us", [
	{ name: "m1", mark: older },
	{ name: "m2", mark: { ...mark, id: "d0d0d0", state: "drained" } },
	{ name: "m3", mark, unschedulable: false },
	{ name: "m4", mark: "{}" },
]);
const globals = readGlobalFlags({ contexts: ["eu", "us"], token: "s3cret" });

async function annotated(): Promise<readonly AnnotatedNode[]> {
	return (await Promise.all([eu, us].map(listAnnotatedNodes))).flatMap(({ nodes }) => nodes);
}

describe("listOperations()", () => {
	test("has the runs with nodes left, the oldest first, and how to go on", async () => {
		const rows = listOperations(await annotated(), new SuggestedCommands(globals));
		expect(rows).toMatchObject([
			{
				id: "0a0a0a",
				contexts: [{ context: "us", drained: [], left: ["m1"] }],
				resume:
					"kubectl xpdb drain --resume 0a0a0a --force --pod-selector=... --grace-period=... --contexts=eu,us --token=...",
			},
			{
				id: "7f3c2a",
				by: "alice@laptop",
				// m3 is in service again: a user uncordoned it with another tool.
				contexts: [
					{ context: "eu", drained: ["n2"], left: ["n1"] },
					{ context: "us", drained: [], left: [] },
				],
				undo: "kubectl xpdb uncordon --op 7f3c2a --contexts=eu,us --token=...",
			},
		]);
	});
});

describe("findOperation()", () => {
	test("finds the nodes of one run in all contexts", async () => {
		const { nodes: found } = await findOperation([eu, us], "7f3c2a");
		expect(found.map(({ context, name }) => `${context.name}/${name}`)).toEqual(["eu/n1", "eu/n2", "us/m3"]);
	});

	test("says that a later version may know more", async () => {
		const later = contextOf("ap", [{ name: "a1", mark: JSON.stringify({ version: 3 }) }]);
		await expect(findOperation([later], "7f3c2a")).rejects.toMatchObject({
			message: 'no node in context ap belongs to operation "7f3c2a", nothing was touched',
			hint: "A later version of kubectl-xpdb marked a1: update this one",
		});
	});
});

describe("resumeOperation()", () => {
	const input: CommandInput = { words: [], flags: { timeout: 0 }, given: new Set(["resume"]), globals, argv: [] };

	test("has the nodes that are left with the flags of the run, and tells what is not there", async () => {
		const events: RunEvent[] = [];
		const emit = (event: RunEvent): void => void events.push(event);
		const resumed = await resumeOperation("7f3c2a", { input, contexts: [eu, us], emit });
		expect(resumed.nodes.map(({ name }) => name)).toEqual(["n1"]);
		expect(resumed.input.flags).toEqual({ timeout: 5_000 });
		expect(events.map((event) => (event.type === "diagnostic" ? event.message : event.type))).toEqual([
			expect.stringMatching(/^Operation 7f3c2a of alice@laptop, begun .* ago: 1 of 3 nodes left, 1 drained$/),
			'node "m3" was uncordoned since and is skipped; to drain it, name it',
		]);
		resumed.requireFleet("f1");
		expect(() => resumed.requireFleet("")).toThrow("under the budgets of another fleet, nothing was touched");
	});

	test("says how many of its nodes are not found", async () => {
		const messages: string[] = [];
		const emit = (event: RunEvent): void => void messages.push("message" in event ? event.message : "");
		await resumeOperation("7f3c2a", { input, contexts: [eu], emit });
		expect(messages.at(-1)).toMatch(/^not found: 1 of its 3 nodes /);
	});
});

describe("missingNodes()", () => {
	test("counts the nodes of the run that these contexts do not show", async () => {
		const { nodes, lost } = await findOperation([eu], "7f3c2a");
		expect(missingNodes(nodes, lost)).toBe(
			"1 of its 3 nodes (deleted, uncordoned, taken over by another operation, or in contexts that were not named)",
		);
	});

	test("is silent where all are here", async () => {
		const { nodes, lost } = await findOperation([eu, us], "7f3c2a");
		expect(missingNodes(nodes, lost)).toBeUndefined();
	});
});
