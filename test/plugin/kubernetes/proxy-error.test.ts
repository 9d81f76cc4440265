// Tests errors of proxies on the way to an API server. Small servers play the proxies.
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiDialer } from "../../../plugin/kubernetes/api-dialer.ts";
import type { Connection } from "../../../plugin/kubernetes/connection.ts";
import { createSampleKubeconfig } from "./sample-kubeconfig.ts";

const { connect } = createSampleKubeconfig("proxy-error");
const server = "https://only-the-bastion-knows.test:6443";

let refusing: Server | undefined;
let socks: TcpServer | undefined;
let status = "";
const asked: Buffer[] = [];

function portOf(listening: Server | TcpServer | undefined): number {
	const address = listening?.address() ?? undefined;
	if (typeof address !== "object") throw new Error("it does not listen");
	return address.port;
}

beforeAll(async () => {
	refusing = createServer().on("connect", (_, socket) => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`));
	// Accepts the greeting, records the requested address, and refuses.
	socks = createTcpServer((socket) => {
		socket.on("error", () => undefined);
		socket.once("data", () => {
			socket.once("data", (request) => {
				asked.push(request);
				socket.end(Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]));
			});
			socket.write(Buffer.from([5, 0]));
		});
	});
	for (const each of [refusing, socks]) await new Promise<void>((resolve) => each.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
	refusing?.close();
	socks?.close();
});

async function failureOf(connection: Connection): Promise<string> {
	const dialer = createApiDialer(connection);
	try {
		await dialer.exchange({ method: "GET", path: "/version", headers: {} });
		return "an answer";
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	} finally {
		dialer.close();
	}
}

describe("a proxy that refuses", () => {
	for (const [answer, hint] of [
		[
			"407 Proxy Authentication Required",
			": put a user name and password into its URL (proxy-url in the kubeconfig, or HTTPS_PROXY)",
		],
		["403 Forbidden", ""],
	] as const) {
		for (const from of ["proxy-url", "environment"] as const) {
			test(`${answer}, of the ${from}, is told as the proxy's`, async () => {
				status = answer;
				const address = `127.0.0.1:${portOf(refusing)}`;
				const proxy = `http://user:secret@${address}`;
				const connection =
					from === "proxy-url"
						? connect({ cluster: { server, "proxy-url": proxy } })
						: { ...connect({ cluster: { server } }), httpProxy: proxy };
				expect(await failureOf(connection)).toBe(`the proxy http://${address} answered ${answer}${hint}`);
			});
		}
	}
});

test("a SOCKS proxy is given the server's name, not an address", async () => {
	const connection = connect({ cluster: { server, "proxy-url": `socks5://127.0.0.1:${portOf(socks)}` } });
	expect(await failureOf(connection)).toMatch(/proxy rejected/i);
	const request = asked[0] ?? Buffer.alloc(5);
	expect(request[3], "a name").toBe(3);
	expect(request.subarray(5, 5 + Number(request[4])).toString()).toBe("only-the-bastion-knows.test");
});
