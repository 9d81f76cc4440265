import type { Clock } from "./clock.ts";

/**
 * Returns the work's result. If the result does not come in time, rejects with `late`. The work then continues, but its result is ignored.
 */
export async function withinTime<T>(
	work: Promise<T>,
	{ clock, ms, late }: { readonly clock: Pick<Clock, "after">; readonly ms: number; readonly late: () => Error },
): Promise<T> {
	const { promise, reject } = Promise.withResolvers<never>();
	const cancel = clock.after(ms, () => reject(late()));
	try {
		return await Promise.race([work, promise]);
	} finally {
		cancel();
	}
}
