// Runs the eviction engine over a fake fleet.
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { RunEvent } from "../../plugin/events/events.ts";
import { PodTally } from "../../plugin/events/pod-tally.ts";
import type { EvictionJob } from "../../plugin/evictions/eviction-job.ts";
import { Evictions, type EvictionsDependencies } from "../../plugin/evictions/evictions.ts";
import { createEvictor } from "../../plugin/evictions/send-eviction.ts";
import { Reachability } from "../../plugin/fleet/reachability.ts";
import { type FakeFleet, type FakeMember, type FakePod, namespace } from "./fake-fleet.ts";
import { createFastRuntime } from "./fast-runtime.ts";

export interface Run {
	readonly fleet: FakeFleet;
	readonly evictions: Evictions;
	readonly events: readonly RunEvent[];
	readonly tally: () => PodTally;
	readonly stop: AbortController;
	readonly timeout: AbortController;
	readonly leftBehind: readonly unknown[];
	readonly runtime: RoundRuntime;
	/** `readAt` is when the pod was listed. By default, now. */
	job(member: FakeMember, pod: FakePod, readAt?: number): EvictionJob;
}

export function newRun(fleet: FakeFleet, more: Partial<EvictionsDependencies> = {}): Run {
	const events: RunEvent[] = [];
	const emit = (event: RunEvent): void => void events.push(event);
	const runtime = createFastRuntime();
	const stop = new AbortController();
	const timeout = new AbortController();
	const options = more.options ?? { gracePeriodSeconds: -1, deletes: false, dryRun: false };
	const evictions = new Evictions({
		fleet,
		holder: "alice@host evict 0001",
		options,
		evictor: createEvictor(options, emit),
		runtime,
		reachability: new Reachability(emit, () => runtime.now()),
		stop: stop.signal,
		emit,
		waitsUntilGone: true,
		skipWaitAfterSeconds: 0,
		wallClock: () => 0,
		...more,
	});
	return {
		fleet,
		evictions,
		events,
		tally() {
			const tally = new PodTally();
			for (const event of events) tally.see(event);
			return tally;
		},
		stop,
		timeout,
		runtime,
		leftBehind: runtime.leftBehind,
		job: (member, { name, uid, labels, version }, readAt = runtime.now()) => ({
			context: member.context,
			pod: { namespace, name, uid },
			seen: { resourceVersion: String(version), labels, readAt, since: readAt, hasNotStarted: false },
			timeout: { signal: timeout.signal, text: "9s" },
			deletes: false,
			graceSeconds: 30,
			attempts: 0,
			isTold: false,
		}),
	};
}
