import { describe, expect, test } from "vitest";
import type { AgentPod } from "../../../plugin/fleet/agent-pods.ts";
import { dialLastAgent, keepLastAgent } from "../../../plugin/fleet/last-agent.ts";
import type { KeptNote } from "../../../plugin/kubernetes/kept-note.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const agent: AgentPod = { namespace: "xpdb-system", name: "agent-1", uid: "uid-1", ready: true, port: 8443 };

function setUp(kept: unknown) {
	const paths: string[] = [];
	const written: unknown[] = [];
	const client = {
		...newClient({}),
		webSocket: async (path: string) => {
			paths.push(path);
			throw new Error("nobody is there");
		},
	};
	const lastAgent: KeptNote = { read: () => written.at(-1) ?? kept, write: (value) => void written.push(value) };
	return { context: { ...newContext("eu", client), lastAgent }, paths, written };
}

describe("dialLastAgent()", () => {
	test("dials the pod in the agents' own namespace, whatever else stands there", async () => {
		const { context, paths } = setUp({ name: "agent-1", uid: "uid-1", port: 8443, namespace: "shop" });
		expect(dialLastAgent(context)?.uid).toBe("uid-1");
		expect(paths).toEqual(["/api/v1/namespaces/xpdb-system/pods/agent-1/portforward?ports=8443"]);
	});

	const rows: readonly (readonly [string, unknown])[] = [
		["nothing", undefined],
		["no object", "agent-1"],
		["a list", [agent]],
		["no name", { uid: "uid-1", port: 8443 }],
		["a name that is a path", { name: "../../secrets", uid: "uid-1", port: 8443 }],
		["a name that is a question", { name: "agent?x=y", uid: "uid-1", port: 8443 }],
		["a name without end", { name: "a".repeat(254), uid: "uid-1", port: 8443 }],
		["a uid that is none", { name: "agent-1", uid: 1, port: 8443 }],
		["a port that is none", { name: "agent-1", uid: "uid-1", port: 0 }],
		["a port that is text", { name: "agent-1", uid: "uid-1", port: "8443/x" }],
	];
	for (const [name, kept] of rows)
		test(`dials nobody where what was kept is ${name}`, () => {
			const { context, paths } = setUp(kept);
			expect([dialLastAgent(context), paths]).toEqual([undefined, []]);
		});
});

describe("keepLastAgent()", () => {
	test("writes when it is another one than before, and no more than what is needed to dial it", () => {
		const { context, written } = setUp(undefined);
		const next = { ...agent, name: "agent-2", uid: "uid-2" };
		for (const each of [agent, agent, next, next, { ...next, uid: "uid-3" }, { ...next, uid: "uid-3", port: 9 }])
			keepLastAgent(context, each);
		expect(written).toEqual([
			{ name: "agent-1", uid: "uid-1", port: 8443 },
			{ name: "agent-2", uid: "uid-2", port: 8443 },
			{ name: "agent-2", uid: "uid-3", port: 8443 },
			{ name: "agent-2", uid: "uid-3", port: 9 },
		]);
	});

	test("leaves out agents of other namespaces: the anchor may name others by then", () => {
		const { context, written } = setUp(undefined);
		keepLastAgent(context, { ...agent, namespace: "shop" });
		expect(written).toEqual([]);
	});
});
