import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createVerboseLog } from "../../../plugin/terminal/verbose-log.ts";
import { clientOfServer } from "../../support/client-of-server.ts";
import { collectStreams } from "../../support/collected-streams.ts";

/** Returns a client of a server that answers with `status`, and the log at this level without the parts that vary. */
async function clientAt(level: number, status: object = { token: "fresh-token" }) {
	const server = createServer((_, response) => {
		response.writeHead(201, { "content-type": "application/json", "set-cookie": "session-cookie" });
		response.end(JSON.stringify({ kind: "TokenRequest", status }));
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	const { stderr, err } = collectStreams();
	const log = createVerboseLog(level, stderr);
	const client = clientOfServer(port, { token: "login-token" }, { onWarning: () => undefined, log });
	onTestFinished(() => {
		client.close();
		server.closeAllConnections();
		server.close();
	});
	const lines = () =>
		err()
			.replaceAll(/^I.*\] /gm, "")
			.replaceAll(/milliseconds=\d+/g, "milliseconds=N")
			.replaceAll(String(port), "PORT")
			.replaceAll(/\t(Date|Keep-Alive|Connection|Transfer-Encoding|Host|User-Agent|Sec-Websocket-Key): .*\n/g, "");
	return { client, lines, close: () => server.close() };
}

const url = 'url="http://127.0.0.1:PORT/x?limit=1"';

test("6: what was asked, and what was answered", async () => {
	const { client, lines } = await clientAt(6);
	await client.post("/x?limit=1", { a: 1 });
	expect(lines()).toBe(`"Response" verb="POST" ${url} status="201 Created" milliseconds=N\n`);
});

test("below, nothing is told", async () => {
	const { client, lines } = await clientAt(5);
	await client.get("/x");
	expect(lines()).toBe("");
});

test("7: the headers of the request, with the login masked", async () => {
	const { client, lines } = await clientAt(7);
	await client.get("/x?limit=1");
	expect(lines()).toBe(
		`"Request" verb="GET" ${url} headers=<\n\tAccept: application/json\n\tAuthorization: Bearer <masked>\n >\n` +
			`"Response" verb="GET" ${url} status="201 Created" milliseconds=N\n`,
	);
});

test("8: bodies and the headers of the answer, without their secrets", async () => {
	const { client, lines } = await clientAt(8);
	await client.post("/x?limit=1", { spec: { audiences: ["a"] } });
	expect(lines()).toContain('"Request Body" body="{\\"spec\\":{\\"audiences\\":[\\"a\\"]}}"\n');
	expect(lines()).toContain(
		`"Response" verb="POST" ${url} status="201 Created" headers=<\n\tContent-Type: application/json\n\tSet-Cookie: <masked>\n > milliseconds=N\n`,
	);
	expect(lines()).toContain(
		'"Response Body" body="{\\"kind\\":\\"TokenRequest\\",\\"status\\":{\\"token\\":\\"<masked>\\"}}"\n',
	);
});

test("9: the request as curl takes it", async () => {
	const { client, lines } = await clientAt(9);
	await client.get("/x");
	expect(lines()).toContain(
		`"Request" curlCommand=<\n\tcurl -v -XGET  -H "Accept: application/json" -H "Authorization: Bearer <masked>"`,
	);
});

test("a login that comes back in an answer is masked there too", async () => {
	const { client, lines } = await clientAt(10, { message: "who is login-token?" });
	await client.get("/x");
	expect(lines()).toContain("who is <masked>?");
	expect(lines()).not.toContain("login-token");
});

test("no answer is told with why there is none", async () => {
	const { client, lines, close } = await clientAt(6);
	close();
	await expect(client.get("/x")).rejects.toThrow("ECONNREFUSED");
	expect(lines()).toMatch(/^"Response" verb="GET" url=".*" status="" err="connect ECONNREFUSED .*" milliseconds=N\n$/);
});

test("a WebSocket is told as the request that asks for it", async () => {
	const { client, lines } = await clientAt(7);
	const ws = await client.webSocket("/x?limit=1", "v4.channel.k8s.io");
	await once(ws, "error");
	expect(lines()).toContain(`"Request" verb="GET" ${url} headers=<\n\tAuthorization: Bearer <masked>\n`);
	expect(lines()).toContain(`"Response" verb="GET" ${url} status="201 Created" milliseconds=N\n`);
});
