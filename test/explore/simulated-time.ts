// Makes AbortSignal.timeout(), performance.now() and Date.now() follow the clock of the simulated process that calls them. So no schedule
// depends on the speed of the machine. Only threads that explore use it.
import { running } from "./await-points.ts";
import { SimulatedProcess } from "./simulated-process.ts";

export function simulateTime(): void {
	const machineMs = performance.now.bind(performance);
	const wallAheadMs = Date.now() - machineMs();
	const dateNow = Date.now.bind(Date);
	const machineTimeout = AbortSignal.timeout.bind(AbortSignal);
	performance.now = () => asking()?.clock.now() ?? machineMs();
	// The distance from the monotonic clock is constant, because the run clock treats a change of it as a sleep.
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
