// Measures a process's processor use in consecutive windows, and its memory.
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

	/** Returns the use since the last call, or since the constructor. */
	window(): Window {
		const at = performance.now();
		const cpu = cpuMs(this.pid);
		const percent = (100 * (cpu - this.#cpu)) / (at - this.#at);
		this.#at = at;
		this.#cpu = cpu;
		return { percent, rssMb: memoryOf(this.pid).now };
	}
}
