// Finds out which pods of a node are gone, without polling each pod. A watch reports deletions; periodic lists find what it missed, and run
// more often without a watch. If pods cannot be listed, each caller polls its own pod, as kubectl does. client-node's Watch ends after 30 s
// without an event and cannot request metadata alone.
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { PodReference } from "../../disruption/budget/cluster.ts";
import { LineSplitter } from "../../proto/line-splitter.ts";
import { ApiError, isNotFound, isPassing } from "./api-error.ts";
import { type KubernetesClient, metadataTypes } from "./kubernetes-client.ts";
import { podPath } from "./pod-path.ts";

/** Must be closed. */
export interface PodDeletions {
	readonly live: boolean;
	isGone(uid: string): boolean;
	/** Returns a signal that aborts when the pod is gone, or when deletions are no longer reported. */
	news(pod: PodReference): AbortSignal;
	close(): void;
}

export interface DeletionTimes {
	readonly watchedMs: number;
	readonly unwatchedMs: number;
	readonly watchAgainMs: number;
}

/** Requests metadata, or whole pods if the server cannot send less. */
const accept = `${metadataTypes.object},application/json`;
/** A server that takes longer is too busy for a watch. */
const openWithinMs = 2_000;
const defaultTimes: DeletionTimes = { watchedMs: 5_000, unwatchedMs: 1_000, watchAgainMs: 1_000 };

/**
 * Resolves when the watch has begun or could not be opened. From then on, and while `live`, awaited deletions are reported. Never rejects.
 */
export async function watchDeletions(
	client: KubernetesClient,
	node: string,
	times: DeletionTimes = defaultTimes,
): Promise<PodDeletions> {
	const deletions = new NodeDeletions(client, node, times);
	await deletions.begin();
	return deletions;
}

class NodeDeletions implements PodDeletions {
	readonly #client: KubernetesClient;
	readonly #path: string;
	readonly #times: DeletionTimes;
	readonly #gone = new Set<string>();
	readonly #waiting = new Map<string, { readonly pod: PodReference; readonly news: AbortController }>();
	readonly #closing = new AbortController();
	#isWatched = false;

	constructor(client: KubernetesClient, node: string, times: DeletionTimes) {
		this.#client = client;
		// The API server's cache is good enough: a pod that is missing from it is read by name.
		const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${node}`, resourceVersion: "0" });
		this.#path = `/api/v1/pods?${query.toString()}`;
		this.#times = times;
	}

	get live(): boolean {
		return !this.#closing.signal.aborted;
	}

	isGone(uid: string): boolean {
		return this.#gone.has(uid);
	}

	news(pod: PodReference): AbortSignal {
		const waiter = this.#waiting.get(pod.uid) ?? { pod, news: new AbortController() };
		if (!this.live || this.isGone(pod.uid)) waiter.news.abort();
		else this.#waiting.set(pod.uid, waiter);
		return waiter.news.signal;
	}

	close(): void {
		this.#closing.abort();
		for (const { news } of this.#waiting.values()) news.abort();
	}

	async begin(): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const close = (): void => this.close();
		this.#watchOn(resolve).then(resolve, close);
		await promise;
		this.#lookOn().then(close, close);
	}

	/**
	 * Reopens the watch until the server refuses it for good. Calls `tried` after each attempt that is followed by another, and when a watch
	 * begins.
	 */
	async #watchOn(tried: () => void): Promise<void> {
		const { signal } = this.#closing;
		for (;;) {
			try {
				const path = `${this.#path}&watch=true`;
				const response = await this.#client.stream(path, { accept, withinMs: openWithinMs, signal });
				this.#isWatched = true;
				tried();
				await this.#follow(response);
			} catch (error) {
				if (error instanceof ApiError && !isPassing(error)) return;
			} finally {
				this.#isWatched = false;
			}
			tried();
			await delay(this.#times.watchAgainMs, undefined, { signal, ref: false });
		}
	}

	/** Returns at the end of the answer, or at an event without a pod, such as ERROR. Throws at a line that is not JSON. */
	async #follow(response: IncomingMessage): Promise<void> {
		let isOver = false;
		const lines = new LineSplitter((line) => {
			const event = readEvent(line);
			if (event?.type === "DELETED") this.#tell(event.uid);
			isOver ||= event === undefined;
		});
		const chunks: AsyncIterable<Buffer> = response;
		for await (const chunk of chunks) {
			lines.push(chunk);
			if (isOver) return;
		}
	}

	/** Rejects when the server refuses the list for good, or after close(). */
	async #lookOn(): Promise<void> {
		const { signal } = this.#closing;
		for (;;) {
			const { watchedMs, unwatchedMs } = this.#times;
			await delay(this.#isWatched ? watchedMs : unwatchedMs, undefined, { signal, ref: false });
			try {
				await this.#look(signal);
			} catch (error) {
				if (!isPassing(error)) throw error;
			}
		}
	}

	async #look(signal: AbortSignal): Promise<void> {
		const asked = [...this.#waiting.values()];
		if (asked.length === 0) return;
		const { items } = await this.#client.get<PodList>(this.#path, { metadataOnly: "list", signal });
		const there = new Set(items.map(({ metadata }) => metadata.uid));
		for (const { pod } of asked) {
			const mayBeGone = !there.has(pod.uid) && this.#waiting.has(pod.uid);
			if (mayBeGone && (await isGone(this.#client, pod, signal))) this.#tell(pod.uid);
		}
	}

	#tell(uid: string): void {
		this.#gone.add(uid);
		this.#waiting.get(uid)?.news.abort();
		this.#waiting.delete(uid);
	}
}

interface PodList {
	readonly items: readonly PodMetadata[];
}

interface PodMetadata {
	readonly metadata: { readonly uid: string };
}

function readEvent(line: string): { readonly type: string; readonly uid: string } | undefined {
	const { type, object }: { readonly type: string; readonly object?: Partial<PodMetadata> } = JSON.parse(line);
	const uid = object?.metadata?.uid;
	return type === "ERROR" || uid === undefined ? undefined : { type, uid };
}

async function isGone(client: KubernetesClient, pod: PodReference, signal: AbortSignal): Promise<boolean> {
	try {
		const { metadata } = await client.get<PodMetadata>(podPath(pod), { metadataOnly: "object", signal });
		return metadata.uid !== pod.uid;
	} catch (error) {
		if (isNotFound(error)) return true;
		throw error;
	}
}
