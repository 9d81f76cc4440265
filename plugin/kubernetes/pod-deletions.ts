// Which pods of a node are gone, by one watch: a hundred pods that end need no hundred questions a second. Where the watch
// cannot be had (no right, an old proxy), or has ended, whoever waits asks for its pod itself, as kubectl does.
import { request as requestPlain } from "node:http";
import { request } from "node:https";
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
	try {
		const isOpen = await open(client, node, { take, end, signal: closing.signal });
		live = isOpen && !closing.signal.aborted;
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

/** Whether the server has begun to watch. */
async function open(
	client: KubernetesClient,
	node: string,
	{
		take,
		end,
		signal,
	}: { readonly take: (line: string) => void; readonly end: () => void; readonly signal: AbortSignal },
): Promise<boolean> {
	const { tls, headers } = await client.dialOptions();
	const query = new URLSearchParams({ watch: "true", fieldSelector: `spec.nodeName=${node}` });
	const url = new URL(`${client.server.replace(/\/$/, "")}/api/v1/pods?${query.toString()}`);
	const make = url.protocol === "http:" ? requestPlain : request;
	return new Promise((resolve) => {
		const outgoing = make(url, { ...tls, headers: { ...headers, accept } }, (response) => {
			clearTimeout(timer);
			response.on("error", end);
			if (response.statusCode !== 200) {
				// What it says against it has lines too, and they are no events.
				response.resume();
				end();
				resolve(false);
				return;
			}
			let rest = "";
			response.setEncoding("utf8");
			response.on("data", (chunk: string) => {
				const lines = (rest + chunk).split("\n");
				rest = lines.pop() ?? "";
				try {
					lines.forEach(take);
				} catch {
					end();
				}
			});
			response.on("close", end);
			resolve(true);
		});
		const fail = (): void => {
			clearTimeout(timer);
			end();
			resolve(false);
		};
		const timer = setTimeout(fail, openWithinMs);
		outgoing.on("error", fail);
		// Not by the request's own signal: its AbortError comes up where nobody listens when the request is over already.
		signal.addEventListener("abort", () => outgoing.destroy(), { once: true });
		outgoing.end();
	});
}
