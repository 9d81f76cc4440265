import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { createAuthority } from "../../../demo/machine/certificates.ts";
import { askForUnverifiedTls } from "../../support/unverified-tls.ts";

test("the agent sends its token to no API server of another CA where Node's environment asks for TLS without verification", async () => {
	askForUnverifiedTls();
	const [cluster, stranger] = await Promise.all([createAuthority("cluster"), createAuthority("stranger")]);
	const pair = await stranger.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], usages: ["server"] });
	const heard: unknown[] = [];
	const server = createSecureServer({ cert: pair.certificate, key: pair.key });
	server.on("stream", (stream, headers) => {
		heard.push(headers.authorization);
		stream.end();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => void server.close());
	const connection = createApiConnection({
		access: {
			server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
			tls: () => ({ ca: cluster.certificate }),
			token: () => "secret",
		},
		clock: systemClock,
		cluster: "eu-1",
	});
	onTestFinished(() => connection.close());
	const asked = connection.request({ method: "GET", path: "/version" });
	await expect(asked).rejects.toThrow(/: unable to verify the first certificate$/);
	expect(heard).toEqual([]);
});
