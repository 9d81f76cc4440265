import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { AgentInfo } from "./fleet-control.ts";
import { connectFleet } from "./fleet-control.ts";
import { describeOnFleet, sharedFleet } from "./shared-fleet.ts";

const run = promisify(execFile);

async function kubectl(...args: string[]): Promise<string> {
	const { dir, kubeconfigPath } = sharedFleet();
	const { stdout } = await run(join(dir, "bin", "kubectl"), [
		"--kubeconfig",
		kubeconfigPath,
		"--context",
		"c1",
		...args,
	]);
	return stdout;
}

async function until(isDone: (agents: readonly AgentInfo[]) => boolean): Promise<readonly AgentInfo[]> {
	const control = connectFleet(sharedFleet().octet);
	for (;;) {
		const agents = await control.listAgents("c1");
		if (isDone(agents)) return agents;
		await delay(50);
	}
}

const twoReady = (agents: readonly AgentInfo[]) => agents.length === 2 && agents.every((agent) => agent.ready);

async function firstAgent(): Promise<AgentInfo> {
	const [agent] = await until(twoReady);
	if (agent === undefined) throw new Error("There is no agent in c1");
	return agent;
}

describeOnFleet("agents on real clusters", () => {
	test("an agent that dies is started again, and its pod says so", async () => {
		const victim = await firstAgent();
		await connectFleet(sharedFleet().octet).killAgent("c1", victim.name);
		await until((agents) => twoReady(agents) && agents.some((agent) => agent.restartCount > victim.restartCount));
		// The pod's status shows the restart a moment later.
		const restarted = `jsonpath={.status.containerStatuses[0].restartCount}=${victim.restartCount + 1}`;
		for (const what of [restarted, "condition=Ready"]) {
			await kubectl("-n", victim.namespace, "wait", "pod", victim.name, `--for=${what}`, "--timeout=60s");
		}
		const status = await kubectl("-n", victim.namespace, "get", "pod", victim.name, "-o", "jsonpath={.status}");
		expect(JSON.parse(status)).toMatchObject({
			podIP: victim.ip,
			containerStatuses: [{ ready: true, restartCount: victim.restartCount + 1 }],
		});
	});

	test("an agent whose pod the node controller called unready, after it heard nothing of the node for a while, is ready again", async () => {
		const { namespace, name } = await firstAgent();
		const status = JSON.stringify({ status: { conditions: [{ type: "Ready", status: "False" }] } });
		await kubectl("-n", namespace, "patch", "pod", name, "--subresource=status", "-p", status);
		const waited = await kubectl("-n", namespace, "wait", "pod", name, "--for=condition=Ready", "--timeout=60s");
		expect(waited).toContain("condition met");
	});

	test("a deleted agent ends on SIGTERM and its successor has another address", async () => {
		const victim = await firstAgent();
		await kubectl("-n", victim.namespace, "delete", "pod", victim.name);
		const successors = await until((agents) => twoReady(agents) && !agents.some(({ name }) => name === victim.name));
		expect(successors.map((agent) => agent.ip)).not.toContain(victim.ip);
	});
});
