import { connect, createServer, type Socket } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { PeerClients } from "../../../agent/peers/peer-clients.ts";
import { type Authority, createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import { listen } from "../../../demo/machine/endpoint.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { clusterId } from "../../support/samples.ts";
import { serveAgent, serverName } from "../../support/served-agent.ts";
import { greetEveryMs } from "../../../proto/greeting-round.ts";

/** Azure's load balancer forgets an idle connection after this time, the shortest of the known clouds. */
const forgottenAfterMs = 240_000;
/** The interval of the signs of life from the agent's server. If it were longer, the test below would time out. */
const signOfLifeMs = 5_000;

describe("PeerClients", () => {
	let fleet: Authority;
	beforeAll(async () => {
		fleet = await createAuthority("fleet");
	});
	// Only these timers are fake, because connections need the others.
	beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
	afterEach(() => void vi.useRealTimers());

	test("keeps a connection without calls alive through a load balancer, by signs in both directions", async () => {
		await using agent = await serveAgent({
			fleet,
			local: createFakeCluster(),
			fleetMembers: [{ id: "eu-2-id", name: "eu-2" }],
		});
		const pair = await issueAgentCertificate(fleet, { clusterId: "eu-2-id" });
		const balancer = await startBalancer(agent.peerAddress);
		const certificates = {
			current: { certificate: pair.certificate, privateKey: pair.key, ca: fleet.certificate },
			onChange: () => () => undefined,
		};
		const clients = new PeerClients({ certificates, serverName });
		try {
			const client = clients.get({ id: clusterId, address: balancer.address });
			const member = new RemoteCluster({ id: clusterId, name: "eu-1", client });
			await member.describe();
			for (let signs = 0; signs < 3; signs += 1) {
				const passed = balancer.passedBothWays();
				await vi.advanceTimersByTimeAsync(signOfLifeMs);
				await passed;
				// The answer shows that the agent received the sign of life. Otherwise, the next advance would look like silence.
				await member.describe();
			}
			expect(balancer.connections()).toBe(1);
		} finally {
			clients.close();
			await balancer.close();
		}
	});

	test("is used by greetings more often than load balancers forget connections, too", () => {
		expect(Math.max(greetEveryMs, signOfLifeMs)).toBeLessThan(forgottenAfterMs / 4);
	});
});

/** Plays a load balancer that counts connections and notices when data passes. */
async function startBalancer(target: string) {
	const sockets: Socket[] = [];
	let waiting: { readonly missing: Set<string>; readonly done: () => void } | undefined;
	const pass = (way: string): void => {
		waiting?.missing.delete(way);
		if (waiting?.missing.size === 0) waiting.done();
	};
	let accepted = 0;
	const server = createServer((near) => {
		accepted += 1;
		const { hostname, port } = new URL(`tcp://${target}`);
		const far = connect({ host: hostname, port: Number(port) });
		sockets.push(near, far);
		near.on("data", () => pass("there")).on("error", () => far.destroy());
		far.on("data", () => pass("back")).on("error", () => near.destroy());
		near.pipe(far).pipe(near);
	});
	await listen(server, { host: "127.0.0.1", port: 0 });
	const own = server.address();
	if (own === null || typeof own === "string") throw new Error("it has no port");
	return {
		address: `127.0.0.1:${own.port}`,
		connections: () => accepted,
		/** Resolves when data has passed to the agent and back. */
		passedBothWays: () =>
			new Promise<void>((resolve) => {
				waiting = { missing: new Set(["there", "back"]), done: resolve };
			}),
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
