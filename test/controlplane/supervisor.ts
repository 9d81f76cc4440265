// Restarts processes that end by themselves, as a kubelet does with static pods. For example, a scheduler exits if a restarted API server
// shows it a pod on another node than before.
import { setTimeout as delay } from "node:timers/promises";
import type { ManagedProcess } from "../../demo/machine/process.ts";

const restartAfterMs = 500;

export class Supervisor {
	readonly #watched = new Set<ManagedProcess>();

	/** Restarts the process whenever it ends, until `release`. It must be running. */
	watch(process: ManagedProcess): void {
		this.#watched.add(process);
		void this.#restartAtEnd(process);
	}

	/** From now on, the process may end. */
	release(process: ManagedProcess): void {
		this.#watched.delete(process);
	}

	async #restartAtEnd(process: ManagedProcess): Promise<void> {
		const { pid } = process;
		await process.exited;
		await delay(restartAfterMs, undefined, { ref: false });
		// Another caller may have restarted it meanwhile.
		if (!this.#watched.has(process) || process.running || process.pid !== pid) return;
		process.restart();
		await this.#restartAtEnd(process);
	}
}
