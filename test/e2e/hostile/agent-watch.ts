// Watches an agent from a worker thread, like a kubelet and Prometheus. The thread that floods is too busy to measure.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

export interface WatchedAgent {
	readonly ip: string;
	readonly pid: number;
}

export interface SeenOfAgent {
	readonly highestMb: number;
	readonly slowestMs: number;
	readonly answers: number;
	/** The most consecutive requests, to /healthz and /metrics, that failed. After three failed probes, a kubelet restarts the agent. */
	readonly failedInARow: number;
}

/** The timeout of the liveness probe in agent/deploy/deployment.yaml. */
const probeTimeoutMs = 5_000;

async function isAnswered(url: string): Promise<boolean> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
		await response.text();
		return response.ok;
	} catch {
		// A missing answer is a valid result here.
		return false;
	}
}

async function watch({ ip, pid }: WatchedAgent, isOver: () => boolean): Promise<SeenOfAgent> {
	const seen = { highestMb: 0, slowestMs: 0, answers: 0, failedInARow: 0 };
	for (let failed = 0; !isOver(); ) {
		const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
		seen.highestMb = Math.max(seen.highestMb, Number(kilobytes) / 1024);
		for (const path of ["/healthz", "/metrics"]) {
			const startedAt = performance.now();
			const answered = await isAnswered(`http://${ip}:8080${path}`);
			failed = answered ? 0 : failed + 1;
			seen.failedInARow = Math.max(seen.failedInARow, failed);
			seen.slowestMs = Math.max(seen.slowestMs, performance.now() - startedAt);
			if (answered) seen.answers++;
		}
		await delay(50);
	}
	return seen;
}

let isOver = false;
parentPort?.on("message", () => {
	isOver = true;
});
if (parentPort) {
	const seen = await watch(workerData as WatchedAgent, () => isOver);
	parentPort.postMessage(seen);
	parentPort.close();
}
