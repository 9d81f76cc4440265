import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { heapFullExitCode } from "../../../disruption/heap-full-exit-code.ts";
import { memoryEndOf } from "../../../plugin/check/read-memory-ends.ts";
import { judgedMemory } from "./check-facts.ts";

const nowMs = Date.parse("2026-06-02T00:00:00Z");
const lately = new Date("2026-06-01T23:00:00Z");
const limits = { limits: { memory: "224Mi" } };

function podWith(status: Partial<V1ContainerStatus>, kind: "containers" | "initContainers" = "containers"): V1Pod {
	const ready = { name: "agent", image: "", imageID: "", ready: true, restartCount: 2, ...status };
	return {
		metadata: { namespace: "xpdb-system", name: "xpdb-agent-1" },
		spec: { containers: [], [kind]: [{ name: "agent", resources: limits }] },
		status: { [kind === "containers" ? "containerStatuses" : "initContainerStatuses"]: [ready] },
	};
}

const end = { pod: "xpdb-system/xpdb-agent-1", restarts: 2, limit: "224Mi", isOfDeployment: true };

describe("memoryEndOf()", () => {
	test.each([
		[
			"the kernel killed it",
			{ lastState: { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: lately } } },
			"OOMKilled",
		],
		[
			"it ended before V8 would",
			{ lastState: { terminated: { exitCode: heapFullExitCode, finishedAt: lately } } },
			"its heap was full",
		],
		["V8 ended it", { state: { terminated: { exitCode: 134, finishedAt: lately } } }, "its heap was full"],
	])("finds an agent where %s", (_, status, how) => {
		expect(memoryEndOf(podWith(status), nowMs)).toEqual({ ...end, how });
		expect(memoryEndOf(podWith(status, "initContainers"), nowMs)).toEqual({ ...end, how });
	});

	test.each([
		["is well", {}],
		[
			"is beside a database that was killed",
			{ name: "db", lastState: { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: lately } } },
		],
		["ended for another reason", { lastState: { terminated: { exitCode: 1, reason: "Error", finishedAt: lately } } }],
		[
			"ended long ago",
			{ lastState: { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: new Date("2026-05-30") } } },
		],
	])("finds none that %s", (_, status) => {
		expect(memoryEndOf(podWith(status), nowMs)).toBeUndefined();
	});
});

test("the finding suggests twice the memory, beside the finding that none is ready", () => {
	expect(judgedMemory("224Mi")).toEqual([
		{
			reason: "AgentMemory",
			message: "agent xpdb-system/a had too little memory with a limit of 224Mi (OOMKilled, 3 restarts)",
			fix: "kubectl xpdb upgrade --agent-memory=448Mi --context eu",
		},
	]);
	expect(judgedMemory("1Gi", false).map(({ reason, fix }) => [reason, fix])).toEqual([
		["NoAgents", expect.stringContaining("describe pod")],
		["AgentMemory", "kubectl xpdb upgrade --agent-memory=2048Mi --context eu"],
	]);
	expect(judgedMemory("268435456")[0]?.fix).toContain("--agent-memory=512Mi");
	expect(judgedMemory("2G")[0]?.fix).toContain("--agent-memory=3815Mi");
	expect(judgedMemory("64Mi")[0]?.fix).toContain("--agent-memory=224Mi");
	expect(judgedMemory(undefined)[0]?.fix).toBe("kubectl describe pod a -n xpdb-system --context eu");
});
