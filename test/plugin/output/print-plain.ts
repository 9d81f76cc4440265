// Prints events with the plain writer at given times.
import type { RunEvent } from "../../../plugin/events/events.ts";
import { createPlainWriter } from "../../../plugin/output/plain.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

export type Timed = readonly [atMs: number, event: RunEvent];

export const epoch = Date.parse("2026-01-01T00:00:00Z");

export function print(events: readonly Timed[], contexts: readonly string[] = ["c1"]): readonly string[] {
	const streams = collectStreams();
	let at = 0;
	const write = createPlainWriter({
		suggest: suggestDefault,
		streams,
		contexts,
		now: () => at,
		wallClock: () => epoch + at,
	});
	for (const [atMs, event] of events) {
		at = atMs;
		write(event);
	}
	return streams.lines();
}

export const pod = { context: "c1", namespace: "default", pod: "web-1", node: "n1" } as const;
export const evicting = {
	type: "pod.evicting",
	...pod,
	dryRun: "none",
	deletes: false,
	budgets: [],
	attempt: 1,
} as const;
export const waiting = {
	type: "pod.waiting",
	...pod,
	reason: "BudgetExhausted",
	budget: "default/web",
	need: 2,
	healthy: 2,
	message: "budget default/web has no disruption left: 2 of 3 healthy, 2 required",
	usedBy: [],
} as const;
