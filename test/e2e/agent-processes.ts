// Hands on the agents of the shared fleet, which run as children of another process: by their pid files.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually, getJson } from "./kubectl.ts";

interface AgentPodList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
		readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
	}[];
}

export interface AgentProcess {
	readonly pod: string;
	readonly pid: number;
}

/** The agents' processes of one cluster, in the order of their pods' names: the first one keeps the line. */
export function agentProcesses(context: string): readonly AgentProcess[] {
	const folder = join(sharedFleet().dir, context, "agents");
	return readdirSync(folder)
		.toSorted()
		.map((pod) => ({ pod, file: join(folder, pod, "pid") }))
		.filter(({ file }) => existsSync(file))
		.map(({ pod, file }) => ({ pod, pid: Number(readFileSync(file, "utf8")) }))
		.filter(({ pid }) => isRunning(pid));
}

export function signalAgents(context: string, signal: NodeJS.Signals): void {
	for (const { pid } of agentProcesses(context)) process.kill(pid, signal);
}

/** What agents of this cluster get into their environment when they start from now on. */
export function setAgentEnvironment(context: string, environment: Readonly<Record<string, string>> | undefined): void {
	const file = join(sharedFleet().dir, context, "agents", "environment.json");
	if (environment) writeFileSync(file, JSON.stringify(environment));
	else rmSync(file, { force: true });
}

/** Two agents are ready in this cluster, as its API server has it. */
export async function agentsReady(context: string): Promise<void> {
	await eventually(`two ready agents in ${context}`, async () => {
		const label = "app.kubernetes.io/name=xpdb-agent";
		const { items } = await getJson<AgentPodList>(context, ["pods", "-n", "xpdb-system", "-l", label]);
		const ready = items.filter(
			({ metadata, status }) =>
				metadata.deletionTimestamp === undefined &&
				status.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
		);
		return ready.length === 2 && agentProcesses(context).length >= 2;
	});
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}
