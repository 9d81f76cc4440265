// Starts again what ends by itself, as a kubelet does with static pods: a scheduler, for one, ends itself where a restarted API
// server shows it a pod on another node than before. What was ended on purpose stays down.
import { setTimeout as delay } from "node:timers/promises";
import type { ManagedProcess } from "../../demo/machine/process.ts";

const restartAfterMs = 500;

export class Supervisor {
	/** Of these an end is not the end. */
	readonly #watched = new Set<ManagedProcess>();

	/** From now on until `release`; the process is running. */
	watch(process: ManagedProcess): void {
		this.#watched.add(process);
		void this.#restartAtEnd(process);
	}

	/** It may end now. */
	release(process: ManagedProcess): void {
		this.#watched.delete(process);
	}

	async #restartAtEnd(process: ManagedProcess): Promise<void> {
		const { pid } = process;
		await process.exited;
		await delay(restartAfterMs, undefined, { ref: false });
		// Meanwhile somebody else may have seen to it.
		if (!this.#watched.has(process) || process.running || process.pid !== pid) return;
		process.restart();
		await this.#restartAtEnd(process);
	}
}
