import { expect, test } from "vitest";
import type { AgentPod } from "../../../plugin/fleet/agent-pods.ts";
import { askEachAgent } from "../../../plugin/check/read-agents.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const namespace = "xpdb-system";

function listedAgent(name: string) {
	const pod = newV1Pod(name, { namespace, labels: { "app.kubernetes.io/name": "xpdb-agent" } });
	return { ...pod, status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
}

const a: AgentPod = { namespace, name: "a", uid: listedAgent("a").metadata?.uid ?? "", ready: true, port: 8443 };

/** Returns what a check says of agents that do not answer. `list` returns the agents that exist afterwards, or throws. */
async function silentAmong(pods: readonly AgentPod[], list: () => readonly object[]) {
	const noAnswer = (path: string): never => {
		throw notFound(path);
	};
	const context = newContext("eu", newClient({ get: noAnswer, post: noAnswer, list }));
	const said = await askEachAgent(context, { namespaces: [namespace], pods });
	return said.map(({ who, said: { kind } }) => `${who} ${kind}`);
}

test("an agent without an answer is told, where it is there or nobody can say whether it is", async () => {
	const told = ["pod xpdb-system/a unread"];
	expect(await silentAmong([a], () => [listedAgent("a")])).toEqual(told);
	const refused = (): never => {
		throw notFound("pods");
	};
	expect(await silentAmong([a], refused)).toEqual(told);
});

test("one that has ended since it was listed is left for who has taken its place", async () => {
	expect(await silentAmong([a], () => [])).toEqual([]);
	expect(await silentAmong([a], () => [listedAgent("b")])).toEqual(["pod xpdb-system/b unread"]);
	expect(await silentAmong([{ ...a, uid: "of the one before" }], () => [listedAgent("a")])).toEqual([
		"pod xpdb-system/a unread",
	]);
});

test("one that is not ready is not asked", async () => {
	expect(await silentAmong([{ ...a, ready: false }], () => [])).toEqual([]);
});
