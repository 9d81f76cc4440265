import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type ApiDialer, createApiDialer } from "../../../plugin/kubernetes/api-dialer.ts";
import type { Connection } from "../../../plugin/kubernetes/connection.ts";

async function dial(handle: RequestListener, some: Partial<Connection> = {}): Promise<ApiDialer> {
	const server = createServer(handle);
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	const url = `http://127.0.0.1:${address.port}`;
	const dialer = createApiDialer({
		context: "eu",
		namespace: "shop",
		server: url,
		cluster: { name: "cluster", server: url, skipTLSVerify: true },
		user: { name: "user" },
		exec: undefined,
		headers: {},
		requestTimeoutMs: 0,
		...some,
	});
	onTestFinished(() => {
		dialer.close();
		server.closeAllConnections();
		server.close();
	});
	return dialer;
}

const get = { method: "GET", path: "/x", headers: {} };

test("a login may take longer than the request that it is for", async () => {
	const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "t" } };
	const exec = {
		command: "sh",
		args: ["-c", `sleep 0.7; echo '${JSON.stringify(credential)}'`],
		env: {},
		apiVersion: credential.apiVersion,
		interactiveMode: "Never",
		installHint: "",
		cluster: undefined,
	};
	const dialer = await dial((request, response) => void response.end(request.headers.authorization), {
		exec,
		requestTimeoutMs: 500,
	});
	expect(await dialer.exchange(get)).toMatchObject({ code: 200, body: "Bearer t" });
});

test("exchange() gives up where the answer begins and does not end", async () => {
	const dialer = await dial((_, response) => void response.write("half"), { requestTimeoutMs: 50 });
	await expect(dialer.exchange(get)).rejects.toThrow("no answer within 0.05s");
});

test("open() gives up where no answer begins", async () => {
	const dialer = await dial(() => undefined);
	await expect(dialer.open(get, 50)).rejects.toThrow("no answer within 0.05s");
});

test("open() gives the answer out as it comes, until whoever asked has enough", async () => {
	const dialer = await dial((_, response) => void response.write("first"));
	const enough = new AbortController();
	const response = await dialer.open({ ...get, signal: enough.signal }, 10_000);
	const [chunk] = await once(response, "data");
	expect(String(chunk)).toBe("first");
	const ended = once(response, "error");
	enough.abort();
	expect(await ended).toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
});

test("nothing is sent where whoever asked has enough already", async () => {
	let requests = 0;
	const dialer = await dial(() => void (requests += 1));
	await expect(dialer.exchange({ ...get, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
	expect(requests).toBe(0);
});
