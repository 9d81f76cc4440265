// Gives back what a round or an eviction no longer needs. A part that fails does not stop the others.
import type { RoundRuntime } from "./round-runtime.ts";

/** Never rejects: a failed part is reported to `onLeftBehind`, and ends by itself, by the lease time or by the fence. */
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
