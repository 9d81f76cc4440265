// Which pods of a node are gone, by one watch: a hundred pods that end need no hundred questions a second. Where the watch
// cannot be had (no right, an old proxy), or has ended, whoever waits asks for its pod itself, as kubectl does. Instead of client-node's
// Watch: that ends after 30 s without an event, leaves out the lines that it cannot read, and cannot ask for metadata alone.
import type { IncomingMessage } from "node:http";
import { LineSplitter } from "../../proto/line-splitter.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

/** Must be closed. */
export interface PodDeletions {
	/** Whether deletions are told of now. */
	readonly live: boolean;
	isGone(uid: string): boolean;
	/** Aborts when the pod is gone, or when nothing is told of any more. */
	news(uid: string): AbortSignal;
	close(): void;
}

/** Metadata is all that is needed, where the server can leave the rest out. */
const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/** A server that takes longer has more to do than to watch. */
const openWithinMs = 2_000;

/** Resolves when every pod that is deleted from now on will be told of, or when none will. Never rejects. */
export async function watchDeletions(client: KubernetesClient, node: string): Promise<PodDeletions> {
	const gone = new Set<string>();
	const waiting = new Map<string, AbortController>();
	const closing = new AbortController();
	let live = false;
	const end = (): void => {
		live = false;
		closing.abort();
		for (const waiter of waiting.values()) waiter.abort();
	};
	const take = (line: string): void => {
		const { type, object }: WatchEvent = JSON.parse(line);
		const uid = object?.metadata?.uid;
		// What is no event about a pod is the server's last word: a version that is too old, or that it is going away.
		if (type === "ERROR" || uid === undefined) end();
		if (type !== "DELETED" || uid === undefined) return;
		gone.add(uid);
		waiting.get(uid)?.abort();
		waiting.delete(uid);
	};
	const query = new URLSearchParams({ watch: "true", fieldSelector: `spec.nodeName=${node}` });
	try {
		const response = await client.stream(`/api/v1/pods?${query.toString()}`, {
			accept,
			withinMs: openWithinMs,
			signal: closing.signal,
		});
		live = !closing.signal.aborted;
		follow(response, take).then(end, end);
	} catch {
		// Polling finds out what is wrong here, and says so where it matters.
		end();
	}
	return {
		get live() {
			return live;
		},
		isGone: (uid) => gone.has(uid),
		news(uid) {
			const waiter = waiting.get(uid) ?? new AbortController();
			if (!live || gone.has(uid)) waiter.abort();
			else waiting.set(uid, waiter);
			return waiter.signal;
		},
		close: end,
	};
}

interface WatchEvent {
	readonly type: string;
	readonly object?: { readonly metadata?: { readonly uid?: string } };
}

/** Ends with the answer, or with a line that cannot be read. */
async function follow(response: IncomingMessage, take: (line: string) => void): Promise<void> {
	const lines = new LineSplitter(take);
	const chunks: AsyncIterable<Buffer> = response;
	for await (const chunk of chunks) lines.push(chunk);
}
