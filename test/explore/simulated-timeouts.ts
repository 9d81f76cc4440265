// AbortSignal.timeout() by the clock of the process that asks for it, in threads that explore: no run depends on how fast the
// machine is.
import { running } from "./await-points.ts";
import { SimulatedProcess } from "./simulated-process.ts";

export function simulateTimeouts(): void {
	const ofMachine = AbortSignal.timeout.bind(AbortSignal);
	AbortSignal.timeout = (ms) => {
		const process = running.getStore();
		if (!(process instanceof SimulatedProcess)) return ofMachine(ms);
		const timeout = new AbortController();
		process.clock.after(ms, () => timeout.abort(new DOMException("The operation timed out", "TimeoutError")));
		return timeout.signal;
	};
}
