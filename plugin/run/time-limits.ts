// Keeps a run within its --timeout, even if a member is slow or another run holds a Lease.
import { setTimeout as delay } from "node:timers/promises";
import { formatDuration } from "../flags/duration.ts";
import type { Connecting } from "../fleet/connect-fleet.ts";
import type { FleetConnection } from "../fleet/fleet.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import { closeConnection } from "./connect-while-finding.ts";

/** Time to release Leases and unused reservations. What remains expires by itself: Leases in 10 s, reservations in 35 s. */
const settleMs = 1_500;

export class TimeLimits {
	readonly #timeouts: AbortSignal[] = [];
	#late: Promise<void> | undefined;

	/** The run may continue until all of these signals have aborted, plus `settleMs`. */
	add(timeout: AbortSignal): void {
		this.#timeouts.push(timeout);
	}

	async wait(work: Promise<unknown>): Promise<void> {
		if (this.#timeouts.length === 0) await work;
		else await Promise.race([work, (this.#late ??= this.#untilLate())]);
	}

	async #untilLate(): Promise<void> {
		await Promise.all(this.#timeouts.map(untilAborted));
		await delay(settleMs);
	}
}

function untilAborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve();
		else signal.addEventListener("abort", () => resolve(), { once: true });
	});
}

/** Rejects with FleetUncoveredError after `timeoutMs`. 0: no timeout. */
export async function connectWithin(timeoutMs: number, { connection, silent }: Connecting): Promise<FleetConnection> {
	if (timeoutMs <= 0) return connection;
	const over = new AbortController();
	const late = delay(timeoutMs, "late" as const, { signal: over.signal });
	late.catch(() => undefined);
	const first = await Promise.race([connection, late]).finally(() => over.abort());
	if (first !== "late") return first;
	void closeConnection({ connection });
	throw new FleetUncoveredError(
		`cannot reach every cluster of the fleet within ${formatDuration(timeoutMs)}, nothing was touched`,
		[...silent].toSorted().map((name) => `${name}: no answer so far`),
	);
}
