// One watch of a simulated agent, and how many events of the log its sink has been shown.
import type { WatchEvent, WatchSink } from "../../agent/kubernetes/watch-sink.ts";
import type { Step } from "./scheduler.ts";

export interface Feed {
	readonly what: string;
	/** The name under which versions are compared (seen-versions.ts). */
	readonly resource: string;
	readonly log: readonly WatchEvent<unknown>[];
	readonly sink: WatchSink<never>;
	shown: number;
	/** The step that shows the next event. Kept, so that it is not made anew before every step. */
	next?: { readonly event: WatchEvent<unknown>; readonly step: Step };
	show(): void;
}

interface FeedOptions<T> {
	readonly shown?: number;
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
