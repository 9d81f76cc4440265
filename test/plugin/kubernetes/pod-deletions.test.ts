import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { EvictionJob } from "../../../plugin/evictions/eviction-job.ts";
import { waitUntilGone } from "../../../plugin/evictions/pod-termination.ts";
import { type PodDeletions, watchDeletions } from "../../../plugin/kubernetes/pod-deletions.ts";
import { sleep } from "../../../plugin/run/run-runtime.ts";
import { newContext } from "../../support/build-context.ts";
import { clientOfServer } from "../../support/client-of-server.ts";

interface Watched {
	readonly deletions: PodDeletions;
	readonly asked: readonly string[];
	readonly response: ServerResponse;
	readonly tell: (type: string, uid: string) => void;
}

/** A server that answers one watch with this status, and leaves it open. */
async function watch(status = 200): Promise<Watched> {
	const asked: string[] = [];
	const answers: ServerResponse[] = [];
	const server = createServer((request, response) => {
		asked.push(request.url ?? "");
		answers.push(response);
		response.writeHead(status).flushHeaders();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	const client = clientOfServer(address.port);
	const deletions = await watchDeletions(client, "node-1");
	const [response] = answers;
	if (!response) throw new Error("nothing was asked");
	onTestFinished(() => {
		deletions.close();
		client.close();
		server.closeAllConnections();
		server.close();
	});
	return {
		deletions,
		asked,
		response,
		tell: (type, uid) => void response.write(`${JSON.stringify({ type, object: { metadata: { uid } } })}\n`),
	};
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, "abort"));

test("watchDeletions() tells of the pods of its node that are deleted, and of no others", async () => {
	const { asked, deletions, tell } = await watch();
	expect(asked).toEqual(["/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dnode-1"]);
	expect(deletions.live).toBe(true);
	const [first, second] = [deletions.news("1"), deletions.news("2")];
	tell("MODIFIED", "2");
	tell("DELETED", "1");
	await aborted(first);
	expect(deletions.isGone("1")).toBe(true);
	expect(deletions.isGone("2")).toBe(false);
	expect(second.aborted).toBe(false);
	expect(deletions.news("1").aborted).toBe(true);
});

test("watchDeletions() lets everybody go when the watch ends", async () => {
	const { deletions, response } = await watch();
	const news = deletions.news("1");
	response.end();
	await aborted(news);
	expect(deletions.live).toBe(false);
	expect(deletions.isGone("1")).toBe(false);
});

test("watchDeletions() ends with what it cannot read, and with the server's own last word", async () => {
	for (const line of ["no JSON\n", '{"type":"ERROR","object":{"code":410}}\n']) {
		const { deletions, response } = await watch();
		const news = deletions.news("1");
		response.write(line);
		await aborted(news);
		expect(deletions.live).toBe(false);
	}
});

test("watchDeletions() is not live where the server refuses", async () => {
	const { deletions } = await watch(403);
	expect(deletions.live).toBe(false);
	expect(deletions.news("1").aborted).toBe(true);
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
	expect(deletions.live).toBe(false);
	deletions.close();
	// An error that nobody listens to comes up before the connection is closed, and fails the run of the tests.
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
		seen: { resourceVersion: "1", labels: {}, readAt: 0, since: 0 },
		timeout: { signal: new AbortController().signal, text: "0s" },
		deletes: false,
		graceSeconds: 30,
		deletions,
		attempts: 0,
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
	// A question to this client would be an error, and not a pod that is gone.
	expect(await ended).toEqual({ kind: "evicted" });
	expect(gone).toBe(true);
});
