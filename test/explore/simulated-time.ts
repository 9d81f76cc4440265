// What shipped code asks the machine for, by the clock of the simulated process that asks, in threads that explore: timeouts of
// AbortSignal, and the clock of a run. No schedule depends on how fast the machine is.
import { running } from "./await-points.ts";
import { SimulatedProcess } from "./simulated-process.ts";

export function simulateTime(): void {
	const machineMs = performance.now.bind(performance);
	const wallAheadMs = Date.now() - machineMs();
	const dateNow = Date.now.bind(Date);
	const machineTimeout = AbortSignal.timeout.bind(AbortSignal);
	performance.now = () => asking()?.clock.now() ?? machineMs();
	// As far ahead of the monotonic clock as ever: the run clock takes a difference for a sleep.
	Date.now = () => {
		const process = asking();
		return process ? process.clock.now() + wallAheadMs : dateNow();
	};
	AbortSignal.timeout = (ms) => {
		const process = asking();
		if (!process) return machineTimeout(ms);
		const timeout = new AbortController();
		process.clock.after(ms, () => timeout.abort(new DOMException("The operation timed out", "TimeoutError")));
		return timeout.signal;
	};
}

function asking(): SimulatedProcess | undefined {
	const process = running.getStore();
	return process instanceof SimulatedProcess ? process : undefined;
}
