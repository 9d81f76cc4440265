// What a process takes of a processor, window by window, and its memory.
import { cpuMs } from "../cpu-time.ts";
import { memoryOf } from "../memory.ts";

export interface Window {
	/** Of one core. */
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

	/** From the last window's end, or the beginning, until now. */
	window(): Window {
		const at = performance.now();
		const cpu = cpuMs(this.pid);
		const percent = (100 * (cpu - this.#cpu)) / (at - this.#at);
		this.#at = at;
		this.#cpu = cpu;
		return { percent, rssMb: memoryOf(this.pid).now };
	}
}
