// Gives back what a round or an eviction no longer needs. A part that fails does not stop the others.
import type { RoundRuntime } from "./round-runtime.ts";

/**
 * Never rejects. A failure is reported to `onLeftBehind`. A hold that it leaves behind ends by the lease time, and a reservation by the
 * fence.
 */
export async function giveBackAll(
	parts: readonly (() => Promise<void>)[],
	runtime: Pick<RoundRuntime, "onLeftBehind">,
): Promise<void> {
	await Promise.all(
		parts.map(async (giveBack) => {
			try {
				await giveBack();
			} catch (error) {
				runtime.onLeftBehind?.(error, giveBack);
			}
		}),
	);
}
