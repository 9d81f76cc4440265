// Only for the build: keeps long timers from firing, so that what V8 compiles does not depend on how busy the machine is.

/** Shorter timers belong to the work itself, such as the next frame of a screen. Longer ones wait for something that is late. */
const heldFromMs = 50;
const longestMs = 2 ** 31 - 1;

/** From now on, no global setTimeout() of 50 ms or more fires or keeps the process alive. Other timers are unaffected. */
export function holdTimers(): void {
	const setTimer = globalThis.setTimeout;
	const held = (...[done, ms, ...values]: Parameters<typeof setTimer>) =>
		(ms ?? 0) < heldFromMs ? setTimer(done, ms, ...values) : setTimer(done, longestMs, ...values).unref();
	globalThis.setTimeout = Object.assign(held, setTimer);
}
