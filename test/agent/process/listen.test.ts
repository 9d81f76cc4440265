import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { listenOn } from "../../../agent/process/listen.ts";
import { hasIpv6Loopback, whyWithoutIpv6 } from "../../support/ipv6-loopback.ts";

const served = () => createServer((socket: Socket) => socket.end("hello"));

async function read(host: string, port: number): Promise<string> {
	const socket = connect({ host, port }).setEncoding("utf8");
	let text = "";
	for await (const chunk of socket) text += String(chunk);
	return text;
}

describe.skipIf(!hasIpv6Loopback)(`listenOn()${whyWithoutIpv6}`, () => {
	test("opens one port on the addresses of both IP versions", async () => {
		const listener = await listenOn({ hosts: ["127.0.0.1", "::1"], port: 0 }, served);
		expect(await read("127.0.0.1", listener.port)).toBe("hello");
		expect(await read("::1", listener.port)).toBe("hello");
		await listener.close();
		await expect(read("::1", listener.port)).rejects.toThrow("ECONNREFUSED");
	});

	test("listens nowhere if one address is in use, and names it with its brackets", async () => {
		const occupant = createServer().listen(0, "::1");
		await once(occupant, "listening");
		const bound = occupant.address();
		const port = typeof bound === "object" && bound !== null ? bound.port : 0;
		const listening = listenOn({ hosts: ["127.0.0.1", "::1"], port }, served);
		await expect(listening).rejects.toThrow(`cannot listen on [::1]:${port}: `);
		await expect(read("127.0.0.1", port)).rejects.toThrow("ECONNREFUSED");
		occupant.close();
	});

	test("accepts both IP versions on ::", async () => {
		const listener = await listenOn({ hosts: ["::"], port: 0 }, served);
		expect(await read("127.0.0.1", listener.port)).toBe("hello");
		expect(await read("::1", listener.port)).toBe("hello");
		await listener.close();
	});
});
