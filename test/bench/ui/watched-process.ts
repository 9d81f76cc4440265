// Measures a process's share of a processor in consecutive windows, and its memory.
import { cpuMs } from "../cpu-time.ts";
import { memoryOf } from "../memory.ts";

export interface Window {
	/** The share of one core. */
	readonly percent: number;
	readonly rssMb: number;
}

export class WatchedProcess {
	readonly pid: number;
	#at = performance.now();
	#cpu: number;

	constructor(pid: number) {
		this.pid = pid;
		this.#cpu = cpuMs(pid);
	}

	/** Returns the window from the end of the last one, or from the beginning, until now. */
	window(): Window {
		const at = performance.now();
		const cpu = cpuMs(this.pid);
		const percent = (100 * (cpu - this.#cpu)) / (at - this.#at);
		this.#at = at;
		this.#cpu = cpu;
		return { percent, rssMb: memoryOf(this.pid).now };
	}
}
