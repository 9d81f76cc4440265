import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import type { NodeTarget } from "../../../plugin/nodes/node-target.ts";
import { planEvent } from "../../../plugin/run/plan-event.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { drainOptions } from "../../support/build-drain-options.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

function nodeWith(list: () => Promise<readonly V1Pod[]>): NodeTarget {
	const client = newClient({
		list: (path) => (path === "/api/v1/nodes" ? [{ metadata: { name: "n1" } }, { metadata: { name: "n2" } }] : list()),
	});
	return { context: newContext("eu", client), name: "n1", uid: "u", unschedulable: false };
}

function planOf(node: NodeTarget, { stop = new AbortController().signal, force = true } = {}) {
	return planEvent([node], undefined, { ...drainOptions, force, deletes: true, stop });
}

describe("planEvent()", () => {
	test("counts what a plan has", async () => {
		const pods = ["a", "b"].map((name) => newV1Pod(name, { owner: { kind: "ReplicaSet", name: "web" } }));
		expect(await planOf(nodeWith(async () => pods))).toEqual({
			type: "plan",
			nodes: 1,
			pods: 2,
			waits: 0,
			impossible: 0,
			perNode: [expect.objectContaining({ pods: 2 })],
			etaSeconds: [expect.any(Number), expect.any(Number)],
		});
	});

	test("promises no end where a pod cannot go before somebody does something", async () => {
		const withoutOwner = nodeWith(async () => [newV1Pod("a")]);
		expect(await planOf(withoutOwner, { force: false })).toMatchObject({
			impossible: 1,
			etaSeconds: [expect.any(Number), null],
		});
	});

	test("warns where the plan cannot be made", async () => {
		const node = nodeWith(async () => {
			throw new ApiError("pods is forbidden", { code: 403, reason: "Forbidden" });
		});
		expect(await planOf(node)).toMatchObject({
			type: "diagnostic",
			level: "warning",
			message: expect.stringMatching(/^the plan could not be made: .*pods is forbidden/),
		});
	});

	test("is not waited for once the run is stopped", async () => {
		const node = nodeWith(() => new Promise(() => undefined));
		const stopping = new AbortController();
		const planned = planOf(node, { stop: stopping.signal });
		stopping.abort();
		expect(await planned).toBeUndefined();
		expect(await planOf(node, { stop: stopping.signal })).toBeUndefined();
	});
});
