import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { type NodeTarget, nodeTarget } from "../../../plugin/nodes/node-target.ts";
import {
	formatOperation,
	type Operation,
	operationAnnotation,
	parseOperation,
} from "../../../plugin/nodes/operation.ts";
import { OperationAnnotations } from "../../../plugin/nodes/operation-annotation.ts";
import { undoCordon } from "../../../plugin/nodes/undo-cordon.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const base = {
	id: "7f3c2a",
	by: "alice@laptop",
	since: "2026-01-01T00:00:00.000Z",
	nodes: 1,
	fleet: "",
	flags: {},
	typedAgain: [],
};
const bobs: Operation = { ...base, id: "b0b0b0", by: "bob@host", state: "draining", cordonedBefore: false };

/** Plays one node behind an API server that accepts patches and honours resourceVersion. */
class FakeNode {
	unschedulable: boolean;
	/** The owner of spec.unschedulable. Undefined if the API server does not say. */
	manager: string | undefined;
	mark: string | undefined;
	patches = 0;
	/** How many of the next patches conflict with another writer. */
	conflicts = 0;
	beforePatch: (() => void) | undefined;
	denies = false;
	readonly events: RunEvent[] = [];
	#version = 1;

	constructor({ unschedulable = false, mark }: { readonly unschedulable?: boolean; readonly mark?: Operation } = {}) {
		this.unschedulable = unschedulable;
		this.mark = mark && formatOperation(mark);
	}

	get operation(): Operation | undefined {
		const reading = parseOperation(this.mark ?? "");
		return reading.kind === "operation" ? reading.operation : undefined;
	}

	target(): NodeTarget {
		const client = newClient({ get: () => this.#object(), patch: (_path, body) => this.#patch(body) });
		return nodeTarget(newContext("eu", client), this.#object());
	}

	#object() {
		const annotations = this.mark === undefined ? {} : { [operationAnnotation]: this.mark };
		const managedFields = this.manager
			? [
					{ manager: "kubelet", fieldsV1: { "f:status": {} } },
					{ manager: this.manager, fieldsV1: { "f:spec": { "f:unschedulable": {} } } },
				]
			: [];
		const metadata = { name: "n1", uid: "u1", resourceVersion: String(this.#version), annotations, managedFields };
		return { metadata, spec: { unschedulable: this.unschedulable } };
	}

	#patch(body: unknown): object {
		// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plugin's own patch
		const { spec, metadata } = body as {
			readonly spec?: { readonly unschedulable: boolean | null };
			readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: Record<string, string | null> };
		};
		this.patches += 1;
		if (this.denies) throw new ApiError("nodes is forbidden", { code: 403, reason: "Forbidden" });
		const write = this.beforePatch;
		this.beforePatch = undefined;
		write?.();
		if (write) this.#version += 1;
		if (this.conflicts > 0) {
			this.conflicts -= 1;
			this.#version += 1;
		}
		const version = metadata?.resourceVersion;
		if (version !== undefined && version !== String(this.#version)) throw new ApiError("conflict", { code: 409 });
		this.#version += 1;
		if (spec) this.unschedulable = spec.unschedulable === true;
		const mark = metadata?.annotations?.[operationAnnotation];
		if (mark !== undefined) this.mark = mark ?? undefined;
		return {};
	}
}

const holder = "00112233445566aa";
const mine = { ...base, holder };
const clock = { ms: 0 };
const annotationsOf = (node: FakeNode, operation = mine): OperationAnnotations =>
	new OperationAnnotations(operation, (event) => void node.events.push(event), {
		now: () => clock.ms,
		sleep: async (ms) => void (clock.ms += ms),
	});
const undo = (node: FakeNode, id = base.id) =>
	undoCordon(node.target(), { id, dryRun: "none", emit: (event) => void node.events.push(event) });

describe("OperationAnnotations", () => {
	test("come with the cordon, in one patch", async () => {
		const node = new FakeNode();
		const target = node.target();
		const annotations = annotationsOf(node);
		await annotations.cordon(target);
		expect(node).toMatchObject({ unschedulable: true, patches: 1 });
		expect(node.operation).toEqual({ ...mine, state: "draining", cordonedBefore: false });
		expect(annotations.hasAll([target])).toBe(true);
		await annotations.drained(target);
		expect(node.operation?.state).toBe("drained");
		expect(node.events).toEqual([
			{ type: "node.cordoned", context: "eu", node: "n1", already: false, ours: true, dryRun: "none" },
		]);
	});

	const cordoned = (
		mark: Operation | undefined,
		cordonedBefore: boolean,
	): { readonly mark: Operation | undefined; readonly cordonedBefore: boolean } => ({ mark, cordonedBefore });
	const rows = [
		{ name: "by hand: it stays cordoned", ...cordoned(undefined, true) },
		{ name: "by a run that did not finish: its cordon is inherited", ...cordoned(bobs, false) },
		{ name: "by a run that had found it so", ...cordoned({ ...bobs, cordonedBefore: true }, true) },
		{ name: "by a run that is done: it stays cordoned", ...cordoned({ ...bobs, state: "drained" }, true) },
		{ name: "by this run, which goes on", ...cordoned({ ...bobs, id: base.id, by: base.by }, false) },
	];
	for (const { name, mark, cordonedBefore } of rows) {
		test(`a node cordoned before ${name}`, async () => {
			const node = new FakeNode({ unschedulable: true, ...(mark && { mark }) });
			await annotationsOf(node).cordon(node.target());
			expect(node.operation).toEqual({ ...mine, state: "draining", cordonedBefore });
			expect(node.events.at(-1)).toMatchObject({ type: "node.cordoned", already: true, ours: !cordonedBefore });
		});
	}

	test("tell whose run is taken over, and whether that one notices", async () => {
		const node = new FakeNode({ unschedulable: true, mark: { ...bobs, holder: "b0b0b0b0b0b0b0b0" } });
		await annotationsOf(node).cordon(node.target());
		expect(node.events[0]).toEqual({
			type: "diagnostic",
			level: "warning",
			context: "eu",
			node: "n1",
			reason: "TakenOver",
			message:
				'node "n1" is taken over from operation b0b0b0 of bob@host: ' +
				"if that run still goes on, it stops before its next step",
		});
		const old = new FakeNode({ unschedulable: true, mark: bobs });
		await annotationsOf(old).cordon(old.target());
		expect(old.events[0]).toMatchObject({ message: expect.stringMatching(/version 0\.1 .* does not stop by itself$/) });
	});

	test("tell once whose run of this operation is taken over", async () => {
		const node = new FakeNode({ unschedulable: true, mark: { ...bobs, id: base.id, holder: "b0b0b0b0b0b0b0b0" } });
		const annotations = annotationsOf(node);
		await annotations.cordon(node.target());
		expect(node.events[0]).toMatchObject({
			level: "info",
			reason: "TakenOver",
			message: expect.stringContaining("operation 7f3c2a is taken over from the run of bob@host"),
		});
	});

	test("take the place of one that came in between, and tell of that", async () => {
		const node = new FakeNode();
		const target = node.target();
		node.beforePatch = () => {
			node.unschedulable = true;
			node.mark = formatOperation({ ...bobs, cordonedBefore: true, holder: "b0b0b0b0b0b0b0b0" });
		};
		await annotationsOf(node).cordon(target);
		expect(node.operation).toEqual({ ...mine, state: "draining", cordonedBefore: true });
		expect(node.events[0]).toMatchObject({ reason: "TakenOver", message: expect.stringContaining("b0b0b0") });
	});

	test("of two runs of one operation: the first one finds the other holder, and marks nothing", async () => {
		const node = new FakeNode();
		const target = node.target();
		const first = annotationsOf(node);
		await first.cordon(target);
		const second = annotationsOf(node, { ...mine, by: "bob@host", holder: "b0b0b0b0b0b0b0b0" });
		await second.cordon(node.target());
		const written = node.mark;
		clock.ms += 60_000;
		await first.hold(target)?.confirm(new AbortController().signal);
		expect(first.hold(target)).toMatchObject({
			why: 'node "n1" was taken over by bob@host, operation 7f3c2a: this run leaves it alone',
			heldBy: "7f3c2a",
		});
		expect(first.operationOf({ context: "eu", node: "n1" })).toBe("7f3c2a");
		await first.drained(target);
		expect(node.mark).toBe(written);
		await second.hold(target)?.confirm(new AbortController().signal);
		expect(second.hold(target)?.lost.aborted).toBe(false);
	});

	test("tell by which operation a lost node is found, for the commands that continue and undo", async () => {
		const node = new FakeNode();
		const target = node.target();
		const annotations = annotationsOf(node);
		await annotations.cordon(target);
		expect(annotations.operationOf({ context: "eu", node: "n1" })).toBe(base.id);
		node.mark = formatOperation({ ...bobs, holder: "b0b0b0b0b0b0b0b0" });
		clock.ms += 60_000;
		await annotations.hold(target)?.confirm(new AbortController().signal);
		expect(annotations.operationOf({ context: "eu", node: "n1" })).toBe("b0b0b0");
		node.mark = undefined;
		const undone = annotationsOf(node);
		await undone.cordon(target);
		node.mark = undefined;
		clock.ms += 60_000;
		await undone.hold(target)?.confirm(new AbortController().signal);
		expect(undone.operationOf({ context: "eu", node: "n1" })).toBeUndefined();
	});

	test("of a run that was taken over are left to the other one", async () => {
		const node = new FakeNode();
		const target = node.target();
		const annotations = annotationsOf(node);
		await annotations.cordon(target);
		node.mark = formatOperation(bobs);
		await annotations.drained(target);
		expect(node.operation).toEqual(bobs);
	});

	test("go around other writers of the node", async () => {
		const node = new FakeNode();
		const target = node.target();
		const annotations = annotationsOf(node);
		await annotations.cordon(target);
		node.conflicts = 2;
		await annotations.drained(target);
		expect(node.operation?.state).toBe("drained");
	});

	test("that cannot be written on a node already cordoned are no failure, but cannot be found", async () => {
		const node = new FakeNode({ unschedulable: true });
		node.denies = true;
		const target = node.target();
		const annotations = annotationsOf(node);
		await annotations.cordon(target);
		expect(node.events.map(({ type }) => type)).toEqual(["diagnostic", "node.cordoned"]);
		expect(annotations.hasAll([target])).toBe(false);
	});
});

describe("undoCordon()", () => {
	test("uncordons what the run cordoned, and takes its mark away", async () => {
		const node = new FakeNode();
		await annotationsOf(node).cordon(node.target());
		expect(await undo(node)).toBe("done");
		expect(node).toMatchObject({ unschedulable: false, mark: undefined });
	});

	test("leaves cordoned what was cordoned before", async () => {
		const node = new FakeNode({ unschedulable: true });
		await annotationsOf(node).cordon(node.target());
		expect(await undo(node)).toBe("done");
		expect(node).toMatchObject({ unschedulable: true, mark: undefined });
		expect(node.events.at(-1)).toMatchObject({
			message: 'node "n1" was cordoned before operation 7f3c2a and stays so',
		});
	});

	test.each([
		{ manager: "kubectl-xpdb", stays: false },
		{ manager: "kubectl", stays: true },
	])("a cordon that $manager wrote since: stays $stays", async ({ manager, stays }) => {
		const node = new FakeNode();
		await annotationsOf(node).cordon(node.target());
		node.manager = manager;
		expect(await undo(node)).toBe("done");
		expect(node).toMatchObject({ unschedulable: stays, mark: undefined });
		const message = 'node "n1" was cordoned by others since operation 7f3c2a and stays so';
		expect(node.events.at(-1)).toMatchObject(stays ? { message } : { type: "node.uncordoned" });
	});

	test("a run that goes on inherits no cordon that others wrote since", async () => {
		const node = new FakeNode({ unschedulable: true, mark: bobs });
		node.manager = "kubectl";
		await annotationsOf(node).cordon(node.target());
		expect(node.operation?.cordonedBefore).toBe(true);
	});

	test("does not touch a node that another run took over in between", async () => {
		const node = new FakeNode();
		await annotationsOf(node).cordon(node.target());
		const target = node.target();
		node.mark = formatOperation(bobs);
		const emit = (event: RunEvent): void => void node.events.push(event);
		expect(await undoCordon(target, { id: base.id, dryRun: "none", emit })).toBe("failed");
		expect(node.operation).toEqual(bobs);
		expect(node.unschedulable).toBe(true);
		expect(node.events.at(-1)).toMatchObject({ message: "it does not belong to operation 7f3c2a any more" });
	});

	test.each([
		{ name: "that was cordoned before and stays so", unschedulable: true },
		{ name: "that another user uncordoned before", unschedulable: false },
	])("also fails for a node $name, if another run took it over in between", async ({ unschedulable }) => {
		const node = new FakeNode({
			unschedulable,
			mark: { ...bobs, id: base.id, cordonedBefore: unschedulable },
		});
		const target = node.target();
		node.mark = formatOperation(bobs);
		const emit = (event: RunEvent): void => void node.events.push(event);
		expect(await undoCordon(target, { id: base.id, dryRun: "none", emit })).toBe("failed");
		expect(node.operation).toEqual(bobs);
		expect(node.events).toContainEqual(
			expect.objectContaining({
				level: "warning",
				message: 'cannot write annotations of node "n1": it does not belong to operation 7f3c2a any more',
			}),
		);
	});

	test("takes only the mark of a node that somebody uncordoned already", async () => {
		const node = new FakeNode({ mark: { ...bobs, id: base.id } });
		expect(await undo(node)).toBe("done");
		expect(node).toMatchObject({ unschedulable: false, mark: undefined });
		expect(node.events.at(-1)).toMatchObject({ type: "node.uncordoned", already: true });
	});
});
