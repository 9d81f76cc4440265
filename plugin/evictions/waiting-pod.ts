// A pod that waits for its grant: until it is answered, or until a stop or its timeout comes first.
import type { RoundCandidate } from "../../disruption/verdict.ts";
import type { EvictionJob } from "./eviction-job.ts";
import type { TryOutcome } from "./try-outcome.ts";
import type { Wait } from "./waiting-event.ts";

export class WaitingPod {
	readonly job: EvictionJob;
	readonly clusterId: string;
	/** Why, as it was last: for the progress, and the message of a timeout. */
	waitedFor: Wait | undefined;
	/** On the runtime's clock: no round before. */
	dueAt = 0;
	/** What its try comes to. */
	readonly outcome: Promise<TryOutcome>;
	readonly #outcome = Promise.withResolvers<TryOutcome>();
	readonly #over = new AbortController();
	readonly #stop: AbortSignal;

	constructor(job: EvictionJob, clusterId: string, stop: AbortSignal) {
		this.job = job;
		this.clusterId = clusterId;
		this.outcome = this.#outcome.promise;
		this.#stop = stop;
		job.timeout.signal.addEventListener("abort", this.#onTimeout, { once: true });
		stop.addEventListener("abort", this.#onStop, { once: true });
		if (stop.aborted) this.#onStop();
		else if (job.timeout.signal.aborted) this.#onTimeout();
	}

	get candidate(): RoundCandidate {
		return { clusterId: this.clusterId, pod: this.job.pod };
	}

	/** Aborts when it has ended, however that was. */
	get over(): AbortSignal {
		return this.#over.signal;
	}

	/** Stops and timeouts do not end it any more. */
	detach(): void {
		this.job.timeout.signal.removeEventListener("abort", this.#onTimeout);
		this.#stop.removeEventListener("abort", this.#onStop);
	}

	finish(outcome: TryOutcome): void {
		this.#end();
		this.#outcome.resolve(outcome);
	}

	fail(error: unknown): void {
		this.#end();
		this.#outcome.reject(error);
	}

	#end(): void {
		this.detach();
		this.#over.abort("it has ended");
	}

	readonly #onStop = (): void => this.finish({ kind: "stopped" });

	readonly #onTimeout = (): void => {
		const { waitedFor } = this;
		this.finish({
			kind: "timedOut",
			...(waitedFor && { waitedFor, reason: waitedFor.reason }),
		});
	};
}

/** Aborts when the last of these pods has ended: no pod waits for their round any more. */
export function allOver(pods: readonly WaitingPod[]): AbortSignal {
	const over = new AbortController();
	let waiting = pods.length;
	for (const pod of pods) {
		const end = (): void => {
			waiting -= 1;
			if (waiting === 0) over.abort(new Error("no pod waits for this round any more"));
		};
		if (pod.over.aborted) end();
		else pod.over.addEventListener("abort", end, { once: true });
	}
	return over.signal;
}
