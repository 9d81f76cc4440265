import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../machine/api-client.ts";
import { isStatus, isTransient } from "../machine/api-client.ts";
import { hostPort } from "../machine/endpoint.ts";
import { writeKubeconfig } from "../machine/kubeconfig.ts";
import type { Exit, ManagedProcess } from "../machine/process.ts";
import { startProcess } from "../machine/process.ts";
import { messageOf } from "../machine/setup-error.ts";
import type { AgentPodObject, AgentPorts } from "./agent-command.ts";
import { agentCommand } from "./agent-command.ts";
import { createStatusReporter, statusOf } from "./agent-status.ts";
import type { PodNetwork } from "./pod-network.ts";

/** What all agents of one cluster share. Tests change the fields without `readonly` while agents run. */
export type AgentHost = {
	readonly client: ApiClient;
	/** The API server's address in the agents' kubeconfig. */
	readonly server: string;
	readonly network: PodNetwork;
	readonly authority: string;
	readonly hostIp: string;
	readonly program: string;
	readonly dir: string;
	readonly certificate: string;
	readonly key: string;
	readonly clientAuthority: string;
	/** Read at each start of a process. */
	environment: Readonly<Record<string, string>>;
	/** If false, a process that died stays dead until this is true again. */
	restarts: boolean;
};

export type AgentPod = {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	readonly ip: string;
	readonly ports: AgentPorts | undefined;
	readonly logFile: string;
	readonly ready: boolean;
	readonly restartCount: number;
	readonly process: ManagedProcess | undefined;
	update(object: AgentPodObject): void;
	/** Kills the process at once, without a grace period. */
	abandon(): void;
	/** Resolves when the process has ended and the pod is deleted or abandoned, or after an error, which goes to the log. */
	readonly done: Promise<void>;
};

// The shortest lifetime that the API server grants, so that long tests see the rotation.
const tokenSeconds = 600;
const tokenRotationMs = 0.6 * tokenSeconds * 1000;
// Like the kubelet's crash-loop backoff of 10 s to 300 s, but faster.
const backoffMs = { first: 200, last: 5000, resetAfter: 30_000 };
const probe = { untilReadyMs: 100, periodMs: 500, timeoutMs: 1000, failures: 3 };

/** Plays the kubelet for one agent pod: runs a real process with the pod's identity at the pod's address. */
export function runAgentPod(first: AgentPodObject, ip: string, host: AgentHost): AgentPod {
	const { name, namespace, uid } = first.metadata;
	const dir = join(host.dir, name);
	const paths = { token: join(dir, "token"), kubeconfig: join(dir, "kubeconfig"), log: join(dir, "agent.log") };
	const podPath = `/api/v1/namespaces/${namespace}/pods/${name}`;
	const over = new AbortController();
	let process: ManagedProcess | undefined;
	let ports: AgentPorts | undefined;
	const life = { ending: false, killAt: Infinity };
	const state = { ready: false, restartCount: 0, startedAt: "", lastExit: undefined as Exit | undefined };
	const reporter = createStatusReporter(host.client, podPath, over.signal);

	async function run(): Promise<void> {
		mkdirSync(dir, { recursive: true, mode: 0o700 });
		await untilDone(requestToken);
		writeKubeconfig(paths.kubeconfig, [
			{
				context: "agent",
				cluster: "own",
				server: host.server,
				authority: host.authority,
				user: "agent",
				credentials: { tokenFile: paths.token },
			},
		]);
		const rotation = setInterval(() => void untilDone(requestToken).catch(() => undefined), tokenRotationMs);
		try {
			for (let wait = backoffMs.first; !life.ending; wait = Math.min(wait * 2, backoffMs.last)) {
				const startedAt = performance.now();
				await runOnce();
				if (performance.now() - startedAt > backoffMs.resetAfter) {
					wait = backoffMs.first;
				}
				state.restartCount++;
				do {
					await delay(wait);
				} while (!life.ending && !host.restarts);
			}
		} finally {
			clearInterval(rotation);
			reporter.close();
		}
		await untilDone(removeObject);
		rmSync(paths.token, { force: true });
	}

	async function runOnce(): Promise<void> {
		const listening = await host.network.ports();
		await untilDone(() => host.network.forward(first, ip, listening));
		if (over.signal.aborted) {
			return;
		}
		ports = listening;
		const { args, env } = agentCommand(first, { ...host, ip, ports, kubeconfig: paths.kubeconfig });
		process = startProcess({
			name: `agent ${namespace}/${name}`,
			command: globalThis.process.execPath,
			args,
			env: { PATH: globalThis.process.env["PATH"] ?? "", HOME: dir, ...env, ...host.environment },
			cwd: dir,
			logFile: paths.log,
		});
		state.startedAt = new Date().toISOString();
		report();
		const probing = new AbortController();
		const probes = probeReadiness(ports.http, probing.signal);
		state.lastExit = await waitForExit(process);
		process = undefined;
		probing.abort();
		await probes;
		state.ready = false;
		report();
	}

	// Sends SIGTERM when the pod is deleted, and SIGKILL after its grace period.
	async function waitForExit(running: ManagedProcess): Promise<Exit> {
		let asked = false;
		for (;;) {
			if (life.ending && !asked) {
				running.terminate();
				asked = true;
			}
			if (performance.now() >= life.killAt) {
				await running.kill();
			}
			const exit = await Promise.race([running.exited, delay(50, undefined)]);
			if (exit !== undefined) {
				return exit;
			}
		}
	}

	async function probeReadiness(port: number, signal: AbortSignal): Promise<void> {
		for (let failures = 0; !signal.aborted; ) {
			const ok = await answersReady(hostPort({ host: ip, port }), signal);
			failures = ok ? 0 : failures + 1;
			const ready = ok || (state.ready && failures < probe.failures);
			if (ready !== state.ready && !signal.aborted) {
				state.ready = ready;
				report();
			}
			await delay(state.ready ? probe.periodMs : probe.untilReadyMs, undefined, { signal }).catch(() => undefined);
		}
	}

	/** Repeats the action after transient errors until it succeeds or the pod is gone. Rejects on other errors. */
	async function untilDone(action: () => Promise<void>): Promise<void> {
		while (!over.signal.aborted) {
			try {
				await action();
				return;
			} catch (error) {
				if (isStatus(error, 404) || isStatus(error, 409)) {
					abandon();
				} else if (!isTransient(error)) {
					throw error;
				}
			}
			await delay(300, undefined, { signal: over.signal }).catch(() => undefined);
		}
	}

	async function requestToken(): Promise<void> {
		const account = first.spec.serviceAccountName ?? "default";
		const { status } = await host.client.send<{ status: { token: string } }>(
			"POST",
			`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
			{
				apiVersion: "authentication.k8s.io/v1",
				kind: "TokenRequest",
				spec: { expirationSeconds: tokenSeconds, boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid } },
			},
		);
		writeFileSync(`${paths.token}.new`, status.token, { mode: 0o600 });
		renameSync(`${paths.token}.new`, paths.token);
	}

	async function removeObject(): Promise<void> {
		await host.client.send("DELETE", podPath, {
			apiVersion: "v1",
			kind: "DeleteOptions",
			gracePeriodSeconds: 0,
			preconditions: { uid },
		});
	}

	function abandon(): void {
		life.ending = true;
		life.killAt = 0;
		over.abort();
	}

	function report(): void {
		reporter.push(statusOf(first, { ip, hostIp: host.hostIp, running: process !== undefined, ...state }));
	}

	return {
		namespace,
		name,
		uid,
		ip,
		get ports() {
			return ports;
		},
		logFile: paths.log,
		get ready() {
			return state.ready;
		},
		get restartCount() {
			return state.restartCount;
		},
		get process() {
			return process;
		},
		update(object) {
			if (object.metadata.deletionTimestamp !== undefined) {
				life.ending = true;
				life.killAt = Math.min(
					life.killAt,
					performance.now() + (object.metadata.deletionGracePeriodSeconds ?? 30) * 1000,
				);
			}
			// Corrects the node controller, which marks pods as not ready if it misses heartbeats, for example after an API server outage.
			if (process !== undefined && saysReady(object) === !state.ready) {
				report();
			}
		},
		abandon,
		done: run().catch(async (error: unknown) => {
			await process?.kill();
			writeFileSync(paths.log, `bench: cannot run this pod: ${messageOf(error)}\n`, { flag: "a" });
		}),
	};
}

/** Returns undefined if the pod has no Ready condition yet. */
function saysReady({ status }: AgentPodObject): boolean | undefined {
	const condition = status?.conditions?.find(({ type }) => type === "Ready");
	return condition && condition.status === "True";
}

async function answersReady(address: string, signal: AbortSignal): Promise<boolean> {
	try {
		const response = await fetch(`http://${address}/readyz`, {
			signal: AbortSignal.any([signal, AbortSignal.timeout(probe.timeoutMs)]),
		});
		await response.arrayBuffer();
		return response.ok;
	} catch {
		return false;
	}
}
