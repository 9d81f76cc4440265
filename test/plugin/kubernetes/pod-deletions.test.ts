import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { EvictionJob } from "../../../plugin/evictions/eviction-job.ts";
import { waitUntilGone } from "../../../plugin/evictions/pod-termination.ts";
import { type PodDeletions, watchDeletions } from "../../../plugin/kubernetes/pod-deletions.ts";
import { sleep } from "../../../plugin/run/run-runtime.ts";
import { newContext } from "../../support/build-context.ts";
import { clientOfServer } from "../../support/client-of-server.ts";

/** A node, with the UIDs of its pods. */
interface Node {
	readonly deletions: PodDeletions;
	readonly asked: readonly string[];
	readonly uids: Set<string>;
	readonly tell: (type: string, uid: string) => void;
	readonly send: (text: string) => void;
	readonly endWatch: () => void;
}

interface Server {
	/** The status code of watches. */
	readonly status?: number;
	/** The status code of lists, and of reads of a pod by name. */
	readonly readStatus?: number;
	readonly uids?: readonly string[];
	/** Whether the list is outdated and contains none of the pods. */
	readonly listsNone?: boolean;
}

const soon = { watchedMs: 10, unwatchedMs: 10, watchAgainMs: 10 };
const never = { watchedMs: 1_000_000, unwatchedMs: 1_000_000, watchAgainMs: 10 };

async function watch(
	{ status = 200, readStatus = 200, uids = [], listsNone = false }: Server = {},
	times = never,
): Promise<Node> {
	const asked: string[] = [];
	const there = new Set(uids);
	let watching: ServerResponse | undefined;
	const server = createServer((request, response) => {
		const url = new URL(request.url ?? "", "http://server");
		asked.push(`${request.url} ${request.headers.accept}`);
		if (url.searchParams.has("watch")) {
			response.writeHead(status).flushHeaders();
			if (status === 200) watching = response;
			else response.end();
			return;
		}
		const name = url.pathname.split("/").at(6);
		const items = [...there].map((uid) => ({ metadata: { uid } }));
		const found =
			name === undefined
				? { items: listsNone ? [] : items }
				: items.find(({ metadata }) => `db-${metadata.uid}` === name);
		response.writeHead(found ? readStatus : 404).end(JSON.stringify(found ?? { kind: "Status", code: 404 }));
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	const client = clientOfServer(address.port);
	const deletions = await watchDeletions(client, "node-1", times);
	onTestFinished(() => {
		deletions.close();
		client.close();
		server.closeAllConnections();
		server.close();
	});
	const send = (text: string): void => {
		if (!watching) throw new Error("nothing watches");
		watching.write(text);
	};
	return {
		deletions,
		asked,
		uids: there,
		send,
		tell: (type, uid) => send(`${JSON.stringify({ type, object: { metadata: { uid } } })}\n`),
		endWatch: () => watching?.end(),
	};
}

const pod = (uid: string) => ({ namespace: "shop", name: `db-${uid}`, uid });
const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, "abort"));
const byWatch = (asked: readonly string[]): number => asked.filter((line) => line.includes("watch=true")).length;

test("watchDeletions() tells of the pods of its node that are deleted, and of no others", async () => {
	const { asked, deletions, tell } = await watch();
	expect(asked).toEqual([
		"/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&resourceVersion=0&watch=true " +
			"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
	]);
	expect(deletions.live).toBe(true);
	const [first, second] = [deletions.news(pod("1")), deletions.news(pod("2"))];
	tell("MODIFIED", "2");
	tell("DELETED", "1");
	await aborted(first);
	expect(deletions.isGone("1")).toBe(true);
	expect(deletions.isGone("2")).toBe(false);
	expect(second.aborted).toBe(false);
	expect(deletions.news(pod("1")).aborted).toBe(true);
});

test("watchDeletions() lists the node for what the watch has missed, and asks for who is not there by name", async () => {
	const { asked, deletions, uids } = await watch({ uids: ["1", "2"] }, soon);
	const [first, second] = [deletions.news(pod("1")), deletions.news(pod("2"))];
	uids.delete("1");
	await aborted(first);
	expect(deletions.isGone("1")).toBe(true);
	expect(second.aborted).toBe(false);
	expect(asked.at(-1)).toBe(
		"/api/v1/namespaces/shop/pods/db-1 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	);
	expect(new Set(asked.slice(1, -1))).toEqual(
		new Set([
			"/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&resourceVersion=0 " +
				"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		]),
	);
});

test("watchDeletions() takes nobody for gone whom only the list has not", async () => {
	const { asked, deletions } = await watch({ uids: ["2"], listsNone: true }, soon);
	const news = deletions.news(pod("2"));
	await vi.waitFor(() => expect(asked.filter((line) => line.includes("/db-2 ")).length).toBeGreaterThan(2));
	expect(news.aborted).toBe(false);
	const replaced = deletions.news({ namespace: "shop", name: "db-2", uid: "1" });
	await aborted(replaced);
	expect(deletions.isGone("1")).toBe(true);
});

test("watchDeletions() lists the node where there is no watch, and begins none that was refused", async () => {
	const { asked, deletions, uids } = await watch({ status: 403, uids: ["1"] }, soon);
	const news = deletions.news(pod("1"));
	expect(deletions.live).toBe(true);
	uids.delete("1");
	await aborted(news);
	expect(deletions.isGone("1")).toBe(true);
	expect(byWatch(asked)).toBe(1);
});

test("watchDeletions() watches again where the watch ends, and after what it cannot read or the server's last word", async () => {
	const { asked, deletions, endWatch, send, tell } = await watch();
	const news = deletions.news(pod("1"));
	const watches = async (count: number): Promise<void> => vi.waitFor(() => expect(byWatch(asked)).toBe(count));
	endWatch();
	await watches(2);
	send("no JSON\n");
	await watches(3);
	send('{"type":"ERROR","object":{"code":410}}\n');
	await watches(4);
	expect(news.aborted).toBe(false);
	tell("DELETED", "1");
	await aborted(news);
	expect(deletions.isGone("1")).toBe(true);
});

test("watchDeletions() goes on where the server has trouble, and lets everybody go where it refuses to list", async () => {
	const busy = await watch({ readStatus: 503, uids: ["1"] }, soon);
	const waiting = busy.deletions.news(pod("1"));
	await vi.waitFor(() => expect(busy.asked.length).toBeGreaterThan(3));
	expect(waiting.aborted).toBe(false);
	const { deletions } = await watch({ status: 403, readStatus: 403, uids: ["1"] }, soon);
	await aborted(deletions.news(pod("1")));
	expect(deletions.live).toBe(false);
	expect(deletions.isGone("1")).toBe(false);
	expect(deletions.news(pod("2")).aborted).toBe(true);
});

test("watchDeletions() survives what a server says with its refusal", async () => {
	const server = createServer((_, response) => void response.writeHead(403).end('{"kind":"Status","code":403}\n'));
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	onTestFinished(() => void server.close());
	const connected = once(server, "connection");
	const client = clientOfServer(address.port);
	const deletions = await watchDeletions(client, "node-1");
	deletions.close();
	expect(deletions.live).toBe(false);
	// An unhandled error would appear before the connection is closed, and fail the test run.
	const [socket]: readonly Socket[] = await connected;
	client.close();
	if (socket && !socket.closed) await once(socket, "close");
});

test("waitUntilGone() asks nobody while a watch tells it", async () => {
	const { deletions, tell } = await watch();
	const context = newContext("eu");
	const job: EvictionJob = {
		context,
		pod: { namespace: "shop", name: "db-0", uid: "1" },
		seen: { resourceVersion: "1", labels: {}, readAt: 0, hasNotStarted: false, since: 0 },
		timeout: { signal: new AbortController().signal, text: "0s" },
		deletes: false,
		graceSeconds: 30,
		deletions,
		attempts: 0,
		isTold: false,
	};
	let gone = false;
	const ended = waitUntilGone(job, {
		skipAfterSeconds: 0,
		sleep,
		wallClock: () => 0,
		emit: () => undefined,
		onGone: () => {
			gone = true;
		},
	});
	tell("DELETED", "1");
	// A read with this client would fail, and would not count as a pod that is gone.
	expect(await ended).toEqual({ kind: "evicted" });
	expect(gone).toBe(true);
});
