// Serves both ports of an agent in front of a fake cluster.
import { ServerCredentials } from "@grpc/grpc-js";
import { afterEach, beforeAll } from "vitest";
import { RecentFleet } from "../../agent/cluster-api/recent-fleet.ts";
import type { Clock } from "../../agent/process/clock.ts";
import { createLogger } from "../../agent/process/log.ts";
import { createMetrics } from "../../agent/process/metrics.ts";
import { systemClock } from "../../agent/process/system-clock.ts";
import { createAuditLog } from "../../agent/server/audit-log.ts";
import { type CallWatcher, createCallWatcher } from "../../agent/server/call-watcher.ts";
import type { RouteOptions } from "../../agent/peers/peers.ts";
import { createPeerGate, createTokenGate, type ServedCluster } from "../../agent/server/gate.ts";
import type { GreetingReceiver } from "../../agent/peers/greetings.ts";
import { HeldLeases } from "../../agent/server/held-leases.ts";
import type { BudgetVerb, CallerVerdict } from "../../agent/server/identity.ts";
import { OpenCalls } from "../../agent/server/open-calls.ts";
import { PeerIdentity } from "../../agent/server/peer-identity.ts";
import { startAgentServer } from "../../agent/server/server.ts";
import {
	type Authority,
	createAuthority,
	issueAgentCertificate,
	type KeyPair,
} from "../../demo/machine/certificates.ts";
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { agentServerName, type CallerIdentity, createAgentClient } from "../../proto/credentials.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import type { BudgetScope } from "../../proto/listed-lease.ts";
import { RemoteCluster, type RemoteClusterOptions } from "../../proto/remote-cluster.ts";
import { buildTokenCaller } from "./build-caller.ts";
import { createFakeCluster } from "./fake-cluster.ts";
import { clusterId } from "./samples.ts";

export const serverName = agentServerName("xpdb-system");

export interface ServedAgentOptions {
	readonly fleet: Authority;
	readonly local: ServedCluster;
	readonly verdict?: CallerVerdict;
	/** Returns why callers with a token may not use the verb on a budget. Undefined if they may. */
	readonly refusal?: (budget: BudgetScope, verb?: BudgetVerb) => string | undefined;
	readonly members?: readonly AgentCluster[];
	/** Called for each call to another member. */
	readonly onPassedOn?: (options: RouteOptions) => void;
	/** The fleet that the agent's own cluster declares. It need not contain that cluster. */
	readonly fleetMembers?: readonly FleetMember[];
	readonly greetings?: GreetingReceiver;
	/** By default, the system clock. */
	readonly clock?: Pick<Clock, "now" | "after">;
	/** Judges each token. By default, the result is `verdict`. */
	readonly judge?: () => CallerVerdict;
	/** The open calls of both ports. */
	readonly openCalls?: OpenCalls;
	readonly held?: HeldLeases;
}

export interface ServedAgent extends AsyncDisposable {
	/** Returns a client of the token port, by default for the agent's own cluster. */
	asCaller(options?: Partial<RemoteClusterOptions>): RemoteCluster;
	clientForCallers(token?: string): AgentServiceClient;
	clientForPeers(pair?: KeyPair): AgentServiceClient;
	/** Returns a client of the peer port. */
	asPeer(options?: Partial<RemoteClusterOptions> & { readonly pair?: KeyPair }): RemoteCluster;
	readonly callerPort: number;
	/** As HOST:PORT. */
	readonly peerAddress: string;
	/** Renews the connections of both ports, as after a change of certificates. */
	renewConnections(graceMs: number): void;
	readonly stopping: AbortController;
	readonly held: HeldLeases;
	readonly watcher: CallWatcher;
	/** Without the audit lines. */
	readonly log: string[];
	readonly audit: string[];
	readonly metrics: ReturnType<typeof createMetrics>;
}

export async function serveAgent(options: ServedAgentOptions): Promise<ServedAgent> {
	const { fleet, local, members = [] } = options;
	const pair = await issueAgentCertificate(fleet, { clusterId });
	const log: string[] = [];
	const metrics = createMetrics({ version: "0.2.0" });
	const { held = createHeldLeases(metrics) } = options;
	const logger = createLogger("debug", { write: (line) => void log.push(line) });
	const audit: string[] = [];
	const auditLogger = createLogger("error", { write: (line) => void audit.push(line) });
	const watcher = createCallWatcher({ metrics, log: logger });
	const stopping = new AbortController();
	const known: CallerVerdict = { kind: "authenticated", caller: buildTokenCaller() };
	const gates = [
		createTokenGate({
			identity: { check: async () => options.judge?.() ?? options.verdict ?? known },
			rights: { refusal: async (_caller, budget, verb) => options.refusal?.(budget, verb) },
			local,
			member: async (id, _caller, way) => {
				options.onPassedOn?.(way);
				const member = members.find((each) => each.id === id);
				if (!member) throw new Error(`Unexpected member ${id}`);
				return member;
			},
			others: async () => members.map(async (member) => member),
		}),
		createPeerGate({
			local,
			identity: new PeerIdentity({
				serverName,
				local,
				fleet: new RecentFleet({
					getFleet: async () => ({ members: options.fleetMembers ?? [], forgotten: [] }),
					now: () => performance.now(),
				}),
				wallClock: () => Date.now(),
			}),
		}),
	];
	const servers = await Promise.all(
		gates.map((gate) =>
			startAgentServer({
				address: { hosts: ["127.0.0.1"], port: 0 },
				credentials: ServerCredentials.createSsl(
					Buffer.from(fleet.certificate),
					[{ cert_chain: Buffer.from(pair.certificate), private_key: Buffer.from(pair.key) }],
					gate.port === "peer",
				),
				gate,
				watcher,
				audit: createAuditLog(auditLogger),
				openCalls: options.openCalls ?? new OpenCalls("eu-1"),
				held,
				clock: options.clock ?? systemClock,
				cluster: "eu-1",
				stopping: stopping.signal,
				...(options.greetings && { greetings: options.greetings }),
			}),
		),
	);
	const clients: { close(): void }[] = [];
	const connect = (port: number | undefined, identity: CallerIdentity): AgentServiceClient => {
		const client = createAgentClient({ address: `127.0.0.1:${port}`, serverName, ca: fleet.certificate, identity });
		clients.push(client);
		return client;
	};
	const clientForCallers = (token = "abc") => connect(servers[0]?.port, { kind: "token", token: async () => token });
	const clientForPeers = ({ certificate, key }: KeyPair = pair) =>
		connect(servers[1]?.port, { kind: "certificate", certificate, privateKey: key });
	const remote = (client: AgentServiceClient, rest: Partial<RemoteClusterOptions>) =>
		new RemoteCluster({ id: clusterId, name: "eu-1", client, ...rest });
	return {
		clientForCallers,
		asCaller: (rest = {}) => remote(clientForCallers(), rest),
		clientForPeers,
		asPeer: ({ pair: own = pair, ...rest } = {}) => remote(clientForPeers(own), rest),
		callerPort: servers[0]?.port ?? 0,
		peerAddress: `127.0.0.1:${servers[1]?.port}`,
		renewConnections: (graceMs) => {
			for (const server of servers) server.renewConnections(graceMs);
		},
		stopping,
		held,
		watcher,
		log,
		audit,
		metrics,
		[Symbol.asyncDispose]: async () => {
			for (const client of clients) client.close();
			await Promise.all(servers.map((server) => server.close(1_000)));
		},
	};
}

export interface ServedAgents {
	readonly fleet: () => Authority;
	readonly serve: (options?: Partial<ServedAgentOptions>) => Promise<ServedAgent>;
}

/** Serves agents of one fleet to the tests of a file, and stops each after its test. */
export function servedAgents(): ServedAgents {
	const running: ServedAgent[] = [];
	let fleet: Authority;
	beforeAll(async () => {
		fleet = await createAuthority("fleet");
	});
	afterEach(async () => {
		for (const agent of running.splice(0)) await agent[Symbol.asyncDispose]();
	});
	return {
		fleet: () => fleet,
		async serve(options = {}) {
			const agent = await serveAgent({ fleet, local: createFakeCluster(), ...options });
			running.push(agent);
			return agent;
		},
	};
}

function createHeldLeases(metrics: ReturnType<typeof createMetrics>): HeldLeases {
	return new HeldLeases({
		now: () => performance.now(),
		cluster: "eu-1",
		onEnded: (heldMs) => metrics.heldSeconds.observe(heldMs / 1000),
	});
}
