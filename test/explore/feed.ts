// One watch of a simulated agent: how far its sink has been shown the log of events.
import type { WatchEvent, WatchSink } from "../../agent/kubernetes/watch-sink.ts";
import type { Step } from "./scheduler.ts";

export interface Feed {
	readonly what: string;
	/** Under which its versions are compared. */
	readonly resource: string;
	readonly log: readonly WatchEvent<unknown>[];
	readonly sink: WatchSink<never>;
	shown: number;
	/** To be shown the event that comes next: told before every step, and made once. */
	next?: { readonly event: WatchEvent<unknown>; readonly step: Step };
	show(): void;
}

interface FeedOptions<T> {
	readonly shown?: number;
	/** What the agent makes of an object; itself if left out. */
	readonly read?: (object: T) => T;
}

export function openFeed<T>(
	what: string,
	log: readonly WatchEvent<T>[],
	sink: WatchSink<T>,
	{ shown = log.length, read = (object) => object }: FeedOptions<T> = {},
): Feed {
	const opened: Feed = {
		what,
		resource: `${what.toLowerCase()}s`,
		log,
		sink,
		shown,
		show: () => {
			const event = log[opened.shown];
			if (event) sink.apply({ ...event, object: read(event.object) });
		},
	};
	return opened;
}
