// Keeps one list and watch running: lists, watches from there, and starts over if the API server has forgotten the version.
//
// Guarantee: the sink gets every change in order, or a whole list, never a part of one. A watch resumes only over its own session, because
// another API server may have a restored etcd (watch-place.ts).
//
// A dead view comes alive only with a new list. A watch resumes only if it ended normally and is open again within 5 s of its last sign of
// life. Otherwise the view could be used before the events of the gap have arrived.
//
// ListWatch of @kubernetes/client-node 2.0 is not used: it skips unreadable lines, keeps whole objects, requests no bookmarks and does not
// notice versions that went back.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { Clock } from "../process/clock.ts";
import { type ApiAsker, type AskOptions, createApiAsker } from "./api-asker.ts";
import type { ApiConnection } from "./api-connection.ts";
import { CollectedList } from "./collected-list.ts";
import { objectMeta } from "./kubernetes-objects.ts";
import { type ListedResource, listPaged, listPath } from "./paged-list.ts";
import type { Fields } from "./protobuf-fields.ts";
import { readWatchFrame } from "./read-protobuf.ts";
import { parseWatchEvent, parseWatchLine, type WatchLine } from "./watch-line.ts";
import { WatchPlace } from "./watch-place.ts";
import { type ListSink, signOfLifeMs, type WatchSink } from "./watch-sink.ts";

/** The server is asked to end each watch after five to ten minutes. */
const watchSeconds = 300;
/** A streamed list that shows nothing for this long is abandoned, and paged lists are used from then on. */
const listSilenceMs = 10_000;
/** A watch that ends sooner, even normally, is not opened again immediately. */
const shortWatchMs = 1_000;
const firstPauseMs = 100;
const longestPauseMs = 3_000;

interface WatchOptions<T> {
	readonly connection: ApiConnection;
	readonly clock: Clock;
	/** From 0 to 1, for the jitter of pauses. */
	readonly random: () => number;
	readonly resource: ListedResource;
	/** Extracts what is kept of an object; throws an error for one that cannot be read. */
	readonly project: (object: unknown) => T;
	/** If set, the server may send events in protobuf, with these fields of each object. `project` gets them as it gets JSON. */
	readonly protobuf?: Fields;
	readonly sink: WatchSink<T>;
	readonly warn: (message: string) => void;
	/** If true, an ended watch lists again instead of resuming. Only for few objects. */
	readonly listsAnew?: boolean;
}

/** A list that is being read. */
export interface ListProgress {
	readonly forMs: number;
	/** How many objects have been read. */
	readonly objects: number;
}

export interface Watch {
	/** Undefined while no list is being read. */
	readonly list: ListProgress | undefined;
	/** How long the last complete list took. Undefined before the first one. */
	readonly lastListMs: number | undefined;
	/** Starts over with a list, because the reported state cannot be trusted. */
	restart(): void;
	/** Ends the watch; the sink gets no more calls. */
	close(): void;
}

export function startWatch<T>(options: WatchOptions<T>): Watch {
	const watch = new ObjectWatch(options);
	void watch.run();
	return watch;
}

class ObjectWatch<T> implements Watch {
	readonly #options: WatchOptions<T>;
	readonly #asker: ApiAsker;
	readonly #closing = new AbortController();
	readonly #stopListening: () => void;
	#attempt = new AbortController();
	readonly #place = new WatchPlace();
	/** The version that this attempt has reached. */
	#version = "";
	/** When the watch last showed a sign of life, or its list was complete. */
	#aliveAt = Number.NEGATIVE_INFINITY;
	#canStreamLists = true;
	#readsProtobuf = true;
	#listing: { readonly startedAt: number; readonly objects: () => number } | undefined;
	lastListMs: number | undefined;

	constructor(options: WatchOptions<T>) {
		this.#options = options;
		this.#asker = createApiAsker(options.connection);
		this.#stopListening = options.connection.versions.onWentBack(() => {
			options.warn(
				`the API server of cluster "${options.connection.cluster}" answers with older versions than before (was etcd restored?): listing ${options.resource.resource} anew`,
			);
			this.#place.forget();
			this.#options.sink.reset();
			this.#attempt.abort();
		});
	}

	get list(): ListProgress | undefined {
		const { clock } = this.#options;
		return this.#listing && { forMs: clock.now() - this.#listing.startedAt, objects: this.#listing.objects() };
	}

	restart(): void {
		this.#place.forget();
		this.#options.sink.watchLost();
		this.#attempt.abort();
	}

	close(): void {
		this.#stopListening();
		this.#closing.abort();
		this.#attempt.abort();
	}

	async run(): Promise<void> {
		const { clock, sink, warn } = this.#options;
		for (let failures = 0; !this.#closing.signal.aborted; ) {
			const attempt = new AbortController();
			this.#attempt = attempt;
			const startedAt = clock.now();
			if (this.#options.listsAnew) this.#place.forget();
			try {
				await this.#listAndWatch(attempt.signal);
				if (clock.now() - startedAt >= shortWatchMs) {
					failures = 0;
					continue;
				}
			} catch (error) {
				if (!attempt.signal.aborted) {
					this.#place.forget();
					sink.watchLost();
					warn(error instanceof Error ? error.message : String(error));
				}
				if (clock.now() - startedAt >= longestPauseMs * 2) failures = 0;
			}
			await this.#pause(failures++);
		}
	}

	async #listAndWatch(signal: AbortSignal): Promise<void> {
		const { connection, sink } = this.#options;
		const isKnown = (): boolean => this.#place.resumeFrom(connection.session) !== "";
		// Not only the watch but also its session has ended, perhaps because the API server is stopping. So the reported state cannot be trusted
		// any more.
		if (!isKnown() && this.#place.forget()) sink.watchLost();
		if (!isKnown() && this.#canStreamLists) return this.#streamList(signal);
		if (!isKnown()) await this.#list(signal);
		// The session may have ended during the list.
		if (signal.aborted || !isKnown()) return;
		return this.#watch(signal);
	}

	async #list(signal: AbortSignal): Promise<void> {
		const { clock, resource, project, sink } = this.#options;
		let read = 0;
		this.#beginList(() => read);
		const { objects, resourceVersion, session } = await listPaged(this.#asker, resource, project, (count) => {
			read = count;
		}).catch((error: unknown) => {
			this.#endList();
			throw error;
		});
		this.#endList(true);
		if (signal.aborted) return;
		this.#place.reached(resourceVersion, session);
		this.#aliveAt = clock.now();
		sink.replace(objects, resourceVersion);
	}

	#beginList(objects: () => number): void {
		this.#listing = { startedAt: this.#options.clock.now(), objects };
	}

	#endList(isComplete = false): void {
		if (isComplete && this.#listing) this.lastListMs = this.#options.clock.now() - this.#listing.startedAt;
		this.#listing = undefined;
	}

	#showsLife(at: number): void {
		if (at - this.#aliveAt >= signOfLifeMs) {
			this.restart();
			return;
		}
		this.#aliveAt = Math.max(this.#aliveAt, at);
		this.#options.sink.signOfLife(at);
	}

	#watch(signal: AbortSignal): Promise<void> {
		this.#version = this.#place.resumeFrom(this.#options.connection.session);
		return this.#stream({ resourceVersion: this.#version }, undefined, signal);
	}

	/** Reads the list as events, and the watch that follows them, in one stream. This needs the least memory on both sides. */
	async #streamList(signal: AbortSignal): Promise<void> {
		const { clock, connection, resource, sink } = this.#options;
		const list: StreamedList<T> = {
			sink: sink.beginList?.() ?? new CollectedList(sink),
			objects: 0,
			mark: connection.versions.mark(resource.name),
			lastEventAt: clock.now(),
		};
		const silence = new AbortController();
		let cancelTimer = (): void => undefined;
		const watchSilence = (ms: number): void => {
			cancelTimer = clock.after(ms, () => {
				const quietMs = clock.now() - list.lastEventAt;
				if (list.done) return;
				if (quietMs < listSilenceMs) watchSilence(listSilenceMs - quietMs);
				else silence.abort();
			});
		};
		watchSilence(listSilenceMs);
		this.#beginList(() => list.objects);
		try {
			const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
			await this.#stream(query, list, AbortSignal.any([signal, silence.signal]));
		} finally {
			cancelTimer();
			if (!list.done) this.#endList();
		}
		if (silence.signal.aborted) this.#canStreamLists = false;
	}

	async #stream(
		query: Readonly<Record<string, string>>,
		list: StreamedList<T> | undefined,
		signal: AbortSignal,
	): Promise<void> {
		const { clock, connection, random, sink, protobuf } = this.#options;
		const timeoutSeconds = String(Math.round(watchSeconds * (1 + random())));
		const question = this.#question("watch", {
			watch: "true",
			allowWatchBookmarks: "true",
			timeoutSeconds,
			...query,
		});
		// stream() is called in the same turn, so it uses this session.
		const { session } = connection;
		const refused = await connection
			.stream({
				path: question.path,
				what: question.what,
				signal,
				line: (line) => {
					if (list) list.lastEventAt = clock.now();
					this.#take(() => parseWatchLine(line), list, session);
				},
				...(protobuf &&
					this.#readsProtobuf && {
						frame: (frame: Uint8Array) => {
							if (list) list.lastEventAt = clock.now();
							this.#take(() => this.#readFrame(frame, protobuf), list, session);
						},
					}),
				signOfLife: (at) => {
					if (!list || list.done) this.#showsLife(at);
				},
			})
			.catch((error: unknown) => {
				if (error instanceof ExpiredError) return "expired" as const;
				throw error;
			});
		if (signal.aborted) return;
		if (refused === "expired" || refused?.status === 410) {
			sink.watchLost();
			this.#place.forget();
			return;
		}
		if (refused?.status === 406 && protobuf && this.#readsProtobuf) {
			this.#readsProtobuf = false; // Not Acceptable: a server that is aggregated or behind a proxy may have JSON alone.
			return;
		}
		if (refused && list && !list.done && [400, 405, 422].includes(refused.status)) {
			this.#canStreamLists = false; // Kubernetes before 1.32, or the feature gate WatchList is off.
			return;
		}
		if (refused) throw this.#asker.refusal(refused, question);
		if (list && !list.done) throw this.#failure(question, "its API server ended the list before it was complete");
	}

	#readFrame(frame: Uint8Array, fields: Fields): WatchLine {
		return this.#orElseJson(() => parseWatchEvent(readWatchFrame(frame, fields)));
	}

	#project(object: unknown): T {
		return this.#orElseJson(() => this.#options.project(object));
	}

	/** If something cannot be read, later watches read JSON. */
	#orElseJson<R>(read: () => R): R {
		try {
			return read();
		} catch (error) {
			this.#readsProtobuf = false;
			throw error;
		}
	}

	#take(read: () => WatchLine, list: StreamedList<T> | undefined, session: number): void {
		const { connection, resource, sink } = this.#options;
		const question = this.#question("watch", {});
		const event = this.#asker.read(question, read);
		if (event.type === "ERROR") {
			if (event.code === 410) throw new ExpiredError(event.message);
			throw this.#failure(question, `its API server says: ${event.message}`);
		}
		const { resourceVersion } = event;
		if (list && !list.done) {
			if (event.type === "BOOKMARK") {
				if (event.initialEventsEnd) this.#finish(list, resourceVersion, session);
				return;
			}
			// Changes made during the list arrive between its objects.
			const { uid } = this.#asker.read(question, () => objectMeta(event.object));
			if (event.type === "DELETED") list.sink.remove(uid);
			else
				list.sink.put(
					uid,
					this.#asker.read(question, () => this.#project(event.object)),
				);
			list.objects += 1;
			return;
		}
		if (compareResourceVersions(resourceVersion, this.#version) < 0) {
			connection.versions.wentBack(resource.name, resourceVersion);
			return;
		}
		if (event.type === "BOOKMARK") sink.bookmark(resourceVersion);
		else {
			const object = this.#asker.read(question, () => this.#project(event.object));
			sink.apply({ type: event.type, object, resourceVersion });
		}
		this.#version = resourceVersion;
		this.#place.reached(resourceVersion, session);
		connection.versions.saw(resource.name, resourceVersion);
	}

	#finish(list: StreamedList<T>, resourceVersion: string, session: number): void {
		const { clock, connection, sink } = this.#options;
		list.done = true;
		this.#endList(true);
		if (connection.versions.answered(list.mark, resourceVersion)) return; // The listeners have aborted this attempt.
		this.#version = resourceVersion;
		this.#place.reached(resourceVersion, session);
		list.sink.end(resourceVersion);
		this.#aliveAt = clock.now();
		sink.signOfLife(this.#aliveAt);
	}

	#question(verb: "list" | "watch", query: Readonly<Record<string, string>>): AskOptions {
		const { resource } = this.#options;
		return {
			method: "GET",
			path: listPath(resource, query),
			what: `${verb} ${resource.resource}`,
			verb,
			resource: resource.resource,
			group: resource.group,
			...(resource.namespace !== undefined && { namespace: resource.namespace }),
		};
	}

	#failure(question: AskOptions, why: string): AgentUnavailableError {
		const { cluster } = this.#options.connection;
		return new AgentUnavailableError(`cannot ${question.what} in cluster "${cluster}": ${why}`, cluster);
	}

	#pause(failures: number): Promise<void> {
		const { clock, random } = this.#options;
		const longest = Math.min(firstPauseMs * 2 ** Math.min(failures, 10), longestPauseMs);
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = clock.after(longest * (0.5 + random() / 2), resolve);
		const closed = () => resolve();
		this.#closing.signal.addEventListener("abort", closed, { once: true });
		return promise.finally(() => {
			cancel();
			this.#closing.signal.removeEventListener("abort", closed);
		});
	}
}

/** The server has forgotten the version to resume from. */
class ExpiredError extends Error {
	override readonly name = "ExpiredError";
}

interface StreamedList<T> {
	readonly sink: ListSink<T>;
	/** How many objects have been read, each as often as it has changed since. */
	objects: number;
	readonly mark: ReturnType<ApiConnection["versions"]["mark"]>;
	lastEventAt: number;
	done?: boolean;
}
