// One watch request at a simulated API server. It begins after a version, or with a list, whose objects come all at once. Then it shows
// events one by one.
import type { ApiAnswer, ApiStreamOptions } from "../../agent/kubernetes/api-connection.ts";
import type { WatchEvent } from "../../agent/kubernetes/watch-sink.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";
import { bookmarkLine, type StreamedCollection } from "./streamed-collection.ts";

const pingEveryMs = 2_000;

/** The most events by which a watch cache can be behind when it begins to show a list. */
const longestLag = 3;

interface StreamOptions {
	readonly server: SimulatedApiServer;
	readonly collection: StreamedCollection;
	readonly asked: ApiStreamOptions;
	readonly now: () => number;
	/** Kubernetes before 1.32 has no streamed lists by default. */
	readonly streamsLists: () => boolean;
}

export interface NextLine {
	/** For example "MODIFIED 1003". */
	readonly what: string;
	readonly line: () => string;
	/** The same event as an unreadable line. Undefined if the line is not an event. */
	readonly garbled: (() => string) | undefined;
	shown(): void;
}

export class SimulatedStream {
	readonly collection: StreamedCollection;
	/** Resolves to the answer that ended the stream, or to undefined if it ended normally. Rejects as ApiConnection.stream does. */
	readonly ended: Promise<ApiAnswer | undefined>;
	isOver = false;
	/** Whether the server has accepted the request. */
	isOpen = false;
	readonly #options: StreamOptions;
	readonly #query: URLSearchParams;
	readonly #resolve: (answer: ApiAnswer | undefined) => void;
	readonly #reject: (error: unknown) => void;
	/** The events of the log that the stream has shown, or that its list or its first version includes. */
	#shown: WatchEvent<unknown>[] = [];
	/** The revision at which the list is complete. Undefined once the stream has said so, or if it shows no list. */
	#listEndsAt: number | undefined;
	#aliveAt = 0;

	constructor(options: StreamOptions) {
		const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer | undefined>();
		const { collection, asked } = options;
		this.collection = collection;
		this.ended = promise;
		this.#options = options;
		this.#query = new URLSearchParams(asked.path.slice(asked.path.indexOf("?")));
		this.#resolve = resolve;
		this.#reject = reject;
		asked.signal.addEventListener("abort", () => this.end(), { once: true });
	}

	/** Whether the stream shows events as they come. */
	get isFollowing(): boolean {
		return this.isOpen && !this.isOver && this.#listEndsAt === undefined;
	}

	get isListing(): boolean {
		return this.isOpen && this.#listEndsAt !== undefined;
	}

	/** Lets the request reach the server. */
	open(): void {
		const { server, collection, asked, streamsLists } = this.#options;
		const { log } = collection;
		this.#aliveAt = this.#options.now();
		const version = this.#query.get("resourceVersion");
		if (version !== null) {
			this.isOpen = true;
			this.#shown = log.slice(0, collection.eventsUntil(Number(version)));
			asked.signOfLife(this.#aliveAt);
			return;
		}
		if (!streamsLists()) {
			this.end({ status: 400, body: { message: "sendInitialEvents is forbidden" } });
			return;
		}
		this.isOpen = true;
		const lag = Math.min(longestLag, log.length);
		this.#shown = log.slice(0, log.length - (lag === 0 ? 0 : server.pickListVersion(lag + 1)));
		this.#listEndsAt = server.revision;
		for (const line of collection.objectLines(this.#shown.length)) this.show(line);
	}

	/** The revision that its list shows. Undefined before the stream is open, and after the list. */
	get listsAt(): number | undefined {
		return this.isOpen && !this.isOver ? this.#listEndsAt : undefined;
	}

	next(): NextLine | undefined {
		const { collection } = this;
		const { log } = collection;
		const shown = this.#shown;
		// After a restore, the events of the new history come next.
		while (shown.length > 0 && shown.at(-1) !== log[shown.length - 1]) shown.pop();
		const event = log[shown.length];
		const endsAt = this.#listEndsAt;
		if (endsAt !== undefined && !(event && Number(event.resourceVersion) <= endsAt)) {
			return {
				what: `all listed ${endsAt}`,
				line: () => bookmarkLine(String(endsAt), { isEndOfList: true }),
				garbled: undefined,
				shown: () => (this.#listEndsAt = undefined),
			};
		}
		return (
			event && {
				what: `${event.type} ${event.resourceVersion}`,
				line: () => collection.eventLine(event),
				garbled: () => collection.eventLine(event, true),
				shown: () => void shown.push(event),
			}
		);
	}

	show(line: string): void {
		if (this.isOver) return;
		try {
			this.#options.asked.line(line);
			this.signOfLife();
		} catch (error) {
			this.breaks(error);
		}
	}

	/** Returns false if there is no next line. */
	showNext(): boolean {
		const next = this.isOver ? undefined : this.next();
		if (!next) return false;
		next.shown();
		this.show(next.line());
		return true;
	}

	/** Answers all pings since the last sign of life, because time passes in jumps here. */
	signOfLife(): void {
		const now = this.#options.now();
		for (let at = this.#aliveAt + pingEveryMs; at < now && this.isOpen && !this.isOver; at += pingEveryMs)
			this.#showsLife(at);
		if (this.isOpen && !this.isOver) this.#showsLife(now);
	}

	/** Ends the stream normally, or with an answer that is not a stream. */
	end(answer?: ApiAnswer): void {
		this.isOver = true;
		this.#resolve(answer);
	}

	breaks(error: unknown): void {
		this.isOver = true;
		this.#reject(error);
	}

	#showsLife(at: number): void {
		this.#aliveAt = at;
		this.#options.asked.signOfLife(at);
	}
}
