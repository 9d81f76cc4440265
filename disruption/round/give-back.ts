// What a round or an eviction no longer needs goes back, whatever becomes of each part.
import type { RoundRuntime } from "./round-runtime.ts";

/** Never rejects: what fails ends by itself, by the lease time or by the fence, and `onLeftBehind` hears of it. */
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
