import type { Clock } from "./clock.ts";

/** The work's result; rejects with `late` if it is not there in time, and then ignores the work's outcome. */
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
