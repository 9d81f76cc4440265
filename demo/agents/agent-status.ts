import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../machine/api-client.ts";
import { isTransient, strategicMergePatch } from "../machine/api-client.ts";
import type { Exit } from "../machine/process.ts";
import { type AgentPodObject, agentContainer } from "./agent-command.ts";

export type StatusReporter = { push(status: unknown): void; close(): void };

/** Writes the newest status of a pod, one write at a time. Retries after transient failures, and stops after any other failure. */
export function createStatusReporter(client: ApiClient, podPath: string, gone: AbortSignal): StatusReporter {
	let wanted: unknown;
	let busy = false;
	let closed = false;
	const write = async () => {
		busy = true;
		while (wanted !== undefined && !closed && !gone.aborted) {
			const body = wanted;
			wanted = undefined;
			try {
				await client.send("PATCH", `${podPath}/status`, body, strategicMergePatch);
			} catch (error) {
				if (isTransient(error)) {
					wanted ??= body;
					await delay(200);
				} else {
					closed = true;
				}
			}
		}
		busy = false;
	};
	return {
		push(status) {
			wanted = status;
			if (!busy) {
				void write();
			}
		},
		close() {
			closed = true;
		},
	};
}

/** Returns the status that a kubelet would write. The uid makes the write fail if a new pod has taken the name. */
export function statusOf(
	pod: AgentPodObject,
	now: {
		readonly ip: string;
		readonly hostIp: string;
		readonly running: boolean;
		readonly ready: boolean;
		readonly restartCount: number;
		readonly startedAt: string;
		readonly lastExit: Exit | undefined;
	},
): unknown {
	const container = agentContainer(pod);
	const others = pod.spec.containers.filter((each) => each !== container);
	const ready = now.running && now.ready;
	const condition = (type: string, value: boolean) => ({
		type,
		status: value ? "True" : "False",
		lastTransitionTime: new Date().toISOString(),
	});
	const terminated = {
		exitCode: now.lastExit?.code ?? 128 + constants.signals[now.lastExit?.signal ?? "SIGKILL"],
		reason: now.lastExit?.code === 0 ? "Completed" : "Error",
		finishedAt: new Date().toISOString(),
	};
	const own = {
		name: container?.name,
		image: container?.image ?? "",
		imageID: "",
		ready,
		started: now.running,
		restartCount: now.restartCount,
		state: now.running ? { running: { startedAt: now.startedAt } } : { terminated },
		...(now.lastExit === undefined ? {} : { lastState: { terminated } }),
	};
	return {
		metadata: { uid: pod.metadata.uid },
		status: {
			phase: "Running",
			hostIP: now.hostIp,
			podIP: now.ip,
			podIPs: [{ ip: now.ip }],
			startTime: now.startedAt,
			conditions: [condition("Initialized", true), condition("ContainersReady", ready), condition("Ready", ready)],
			...(others.length > 0 && {
				// The agent is a sidecar. The other containers count as ready while the agent's process runs.
				initContainerStatuses: [own],
				containerStatuses: others.map(({ name, image = "" }) => ({
					name,
					image,
					imageID: "",
					ready: now.running,
					started: now.running,
					restartCount: 0,
					state: now.running ? { running: { startedAt: now.startedAt } } : { terminated },
				})),
			}),
			...(others.length === 0 && { containerStatuses: [own] }),
		},
	};
}
