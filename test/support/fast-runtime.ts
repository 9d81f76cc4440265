// A runtime of rounds for tests, in which time passes only while a caller sleeps.
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";

export function createFastRuntime(): RoundRuntime & { readonly leftBehind: unknown[] } {
	let at = 0;
	let ids = 0;
	const leftBehind: unknown[] = [];
	return {
		leftBehind,
		now: () => at,
		newId: () => `id-${(ids += 1)}`,
		async sleep(ms, signal) {
			await new Promise((resolve) => {
				setImmediate(resolve);
			});
			if (!signal.aborted) at += ms;
		},
		onLeftBehind: (problem) => void leftBehind.push(problem),
	};
}
