// Starts the whole agent, and stops it again.
import { AgentUnavailableError } from "../disruption/errors.ts";
import packageJson from "../package.json" with { type: "json" };
import { agentServerName } from "../proto/credentials.ts";
import { type ConnectedCluster, connectCluster } from "./cluster-api/connect-cluster.ts";
import { RecentFleet } from "./cluster-api/recent-fleet.ts";
import { withSharedReads } from "./cluster-api/shared-reads.ts";
import { countReservations, keepHouse } from "./housekeeping.ts";
import { inClusterAccess, kubeconfigAccess } from "./kubernetes/api-access.ts";
import { BudgetExistence } from "./leases/budget-existence.ts";
import { BudgetHistories } from "./leases/budget-histories.ts";
import { BudgetsElsewhere } from "./leases/budgets-elsewhere.ts";
import { LocalCluster } from "./leases/local-cluster.ts";
import { createMembership, type Membership } from "./peers/membership.ts";
import { PeerClients } from "./peers/peer-clients.ts";
import { Peers } from "./peers/peers.ts";
import { findPeerAddress } from "./peers/pod-address.ts";
import { Replicas } from "./peers/replicas.ts";
import type { AgentConfig } from "./process/config.ts";
import { startHealthServer } from "./process/health.ts";
import type { Logger } from "./process/log.ts";
import { createMetrics } from "./process/metrics.ts";
import { createProblemLog } from "./process/problem-log.ts";
import { Readiness } from "./process/readiness.ts";
import { collectStartUpGarbage } from "./process/start-up-garbage.ts";
import { systemClock } from "./process/system-clock.ts";
import { createAuditLog } from "./server/audit-log.ts";
import { createCallWatcher } from "./server/call-watcher.ts";
import { callerFields } from "./peers/caller.ts";
import { CallerDeadlines } from "./server/caller-deadlines.ts";
import { Certificates } from "./tls/certificates.ts";
import { createPeerGate, createTokenGate } from "./server/gate.ts";
import { HeldLeases } from "./server/held-leases.ts";
import { Identity } from "./server/identity.ts";
import { OpenCalls } from "./server/open-calls.ts";
import { PeerIdentity } from "./server/peer-identity.ts";
import { ReviewRate } from "./server/review-rate.ts";
import { createReviews } from "./server/reviews.ts";
import { Rights } from "./server/rights.ts";
import { type AgentServer, startAgentServer } from "./server/server.ts";
import { withFailPoints } from "./views/fail-points.ts";
import { openViews, type Views } from "./views/views.ts";
import { withWatchedLeases } from "./views/watched-leases.ts";

interface AgentOptions {
	readonly config: AgentConfig;
	readonly env: NodeJS.ProcessEnv;
	readonly log: Logger;
}

interface Listening {
	readonly connected: ConnectedCluster;
	readonly local: LocalCluster;
	readonly fleet: RecentFleet;
	readonly peers: Peers;
	readonly membership: Membership;
	readonly certificates: Certificates;
}

/** Two requests to the API server with 5 s each; they run in parallel for all Leases. */
const giveBackMs = 10_000;
/** A call has 5 s; a caller that waits in line connects again. */
const renewMs = 5_000;
/** A call has 5 s, and waiting callers are sent away immediately. Both together end within the 25 s that main.ts allows. */
const drainMs = 6_000;

export class Agent {
	readonly #options: AgentOptions;
	readonly #stopping = new AbortController();
	readonly #readiness = new Readiness();
	readonly #closers: (() => void | Promise<void>)[] = [];
	readonly #servers: AgentServer[] = [];
	readonly #metrics = createMetrics({
		version: packageJson.version,
		reservations: () => (this.#views ? countReservations(this.#views) : 0),
		waiting: () => this.#waiting(),
		watchers: () => this.#local?.watchers ?? 0,
		pods: () => this.#views?.pods.size ?? 0,
		certificateExpiry: () => this.#certificates?.expiry,
		members: () => this.#membership?.known.census,
	});
	readonly #report: (problem: unknown) => void;
	readonly #serverName: string;
	#certificates: Certificates | undefined;
	#views: Views | undefined;
	#membership: Membership | undefined;
	#local: LocalCluster | undefined;
	#held: HeldLeases | undefined;

	constructor(options: AgentOptions) {
		this.#options = options;
		this.#serverName = agentServerName(options.config.agentNamespace);
		this.#report = createProblemLog(this.#metrics, options.log, () => systemClock.now());
	}

	get isStopping(): boolean {
		return this.#stopping.signal.aborted;
	}

	/** Resolves when the ports are open. The agent is ready later, when the first lists are done. Rejects if it cannot start. */
	async start(): Promise<void> {
		const { config, env, log } = this.#options;
		const certificates = new Certificates({ files: config, serverName: this.#serverName, report: this.#report });
		this.#certificates = certificates;
		this.#closers.push(() => certificates.close());
		this.#readiness.add(() => (this.#stopping.signal.aborted ? "The agent is shutting down" : undefined));
		this.#readiness.add(() => (this.#views ? undefined : "The API server has not answered yet"));
		this.#readiness.add(() =>
			this.#views?.synced === false ? "The first lists of pods, Leases and budgets are not done" : undefined,
		);
		const health = await startHealthServer({
			address: config.httpListen,
			readiness: this.#readiness,
			metrics: this.#metrics.registry,
			clock: systemClock,
		});
		this.#closers.push(() => health.close());
		const connected = await connectCluster({
			access: config.kubeconfig ? await kubeconfigAccess({ path: config.kubeconfig }) : inClusterAccess({ env }),
			config,
			clock: systemClock,
			signal: this.#stopping.signal,
			onTrouble: this.#report,
		});
		this.#closers.push(() => connected.connection.close());
		certificates.requireMember(connected.api.clusterId);
		await this.#serve(connected, certificates);
		log.info(
			{
				cluster: connected.clusterName,
				clusterId: connected.api.clusterId,
				version: packageJson.version,
				pod: config.pod.name,
			},
			"The agent listens",
		);
	}

	/** Releases the leases that callers hold through this agent, lets calls end, and closes everything. */
	async stop(): Promise<void> {
		const name = this.#local?.name ?? "";
		this.#stopping.abort(new AgentUnavailableError(`The agent of cluster "${name}" is shutting down`, name));
		await within(giveBackMs, this.#giveBack());
		await Promise.all(this.#servers.map((server) => server.close(drainMs)));
		for (const close of this.#closers.toReversed()) await close();
	}

	async #serve(connected: ConnectedCluster, certificates: Certificates): Promise<void> {
		const { config, env } = this.#options;
		const { connection, api, clusterName } = connected;
		const views = openViews({
			connection,
			api,
			clock: systemClock,
			leaseNamespace: config.leaseNamespace,
			env,
			onTrouble: (resource, message) => {
				this.#metrics.watchRestarts.inc({ resource });
				this.#report(new AgentUnavailableError(message, clusterName));
			},
			report: this.#report,
		});
		this.#views = views;
		this.#closers.push(() => views.close());
		const replicas = new Replicas({
			clusterId: api.clusterId,
			clusterName,
			pod: config.pod,
			pods: views.pods,
			clients: this.#peerClients(certificates),
			addressOf: (pod) => findPeerAddress(connection, pod, config.peerListen.port),
			clock: systemClock,
			report: this.#report,
		});
		const fleet = new RecentFleet({ getFleet: () => api.getFleet(), now: () => systemClock.now() });
		const peers = new Peers({
			clients: this.#peerClients(certificates),
			fleet,
			clusterId: api.clusterId,
			clusterName,
		});
		const elsewhere = new BudgetsElsewhere({ members: () => peers.others(), cluster: clusterName });
		const membership = createMembership({
			api,
			leases: views.leases,
			clusterName,
			fleetConfigMap: `${config.pod.namespace}/${config.fleetConfigMap}`,
			clients: this.#peerClients(certificates),
			clock: systemClock,
			random: Math.random,
			metrics: this.#metrics,
			report: this.#report,
		});
		this.#membership = membership;
		this.#closers.push(() => membership.close());
		const existence = new BudgetExistence({
			api,
			budgets: views.budgets,
			elsewhere,
			now: () => systemClock.now(),
			cluster: clusterName,
		});
		const histories = new BudgetHistories({
			pods: views.pods,
			leases: views.leases,
			budgets: views.budgets,
			clock: systemClock,
		});
		const local = new LocalCluster({
			api: withFailPoints(withWatchedLeases(withSharedReads(membership.api), views.leases), env),
			membership: membership.known,
			ownDescription: () => ({
				clockMs: Date.now(),
				certificates: certificates.marks,
				heard: membership.heard(),
			}),
			pods: views.pods,
			budgets: views.budgets,
			workloads: views.workloads,
			leaseView: views.leases,
			histories,
			clock: systemClock,
			name: clusterName,
			version: packageJson.version,
			leaseNamespace: config.leaseNamespace,
			lineHost: (onBehalfOf) => replicas.lineHost(onBehalfOf),
			budgetElsewhere: (budget) => elsewhere.find(budget),
			beforeCreating: (budget) => existence.assertExists(budget),
			report: this.#report,
		});
		this.#local = local;
		const isSecond = () => replicas.lineHost() !== undefined;
		this.#closers.push(histories.begin());
		this.#closers.push(collectStartUpGarbage(systemClock, () => views.synced));
		this.#closers.push(
			keepHouse({ local, api: membership.api, peers, views, clock: systemClock, isSecond, report: this.#report }),
		);
		await this.#listen({ connected, local, fleet, peers, membership, certificates });
		membership.start();
	}

	async #listen({ connected, local, fleet, peers, membership, certificates }: Listening): Promise<void> {
		const { config, log } = this.#options;
		const { connection, clusterName } = connected;
		const reviews = createReviews({ api: connection, cluster: clusterName });
		const now = () => systemClock.now();
		const identity = new Identity({
			reviews,
			rate: new ReviewRate({ now }),
			cluster: clusterName,
			now,
			onCaller: (caller) => log.info(callerFields(caller), "A caller was let in"),
		});
		const peerIdentity = new PeerIdentity({
			serverName: this.#serverName,
			local,
			fleet,
			wallClock: () => Date.now(),
		});
		const rights = new Rights({ reviews, now, cluster: clusterName });
		const watcher = createCallWatcher({ metrics: this.#metrics, log });
		const audit = createAuditLog(log);
		const stopping = this.#stopping.signal;
		const openCalls = new OpenCalls(clusterName);
		const held = new HeldLeases({
			now,
			cluster: clusterName,
			onEnded: (heldMs) => this.#metrics.heldSeconds.observe(heldMs / 1000),
		});
		this.#held = held;
		const greetings = membership.receiver;
		const deadlines = new CallerDeadlines({
			api: connection,
			clock: systemClock,
			wallClock: () => Date.now(),
			cluster: clusterName,
		});
		const shared = { watcher, audit, stopping, openCalls, held, greetings, deadlines };
		const serving = { ...shared, clock: systemClock, cluster: clusterName };
		this.#servers.push(
			...(await Promise.all([
				startAgentServer({
					address: config.listen,
					credentials: certificates.serverCredentials({ peers: false }),
					gate: createTokenGate({
						identity,
						rights,
						local,
						member: (...asked) => peers.member(...asked),
						others: (caller) => peers.othersFor(caller),
					}),
					...serving,
				}),
				startAgentServer({
					address: config.peerListen,
					credentials: certificates.serverCredentials({ peers: true }),
					gate: createPeerGate({ local, identity: peerIdentity }),
					...serving,
				}),
			])),
		);
		certificates.onChange(() => {
			for (const server of this.#servers) server.renewConnections(renewMs);
		});
	}

	#peerClients(certificates: Certificates): PeerClients {
		const clients = new PeerClients({ certificates, serverName: this.#serverName });
		this.#closers.push(() => clients.close());
		return clients;
	}

	async #giveBack(): Promise<void> {
		const problems = await this.#held?.giveBackAll();
		await this.#local?.close();
		for (const problem of problems ?? []) this.#report(problem);
	}

	#waiting(): number {
		let waiting = 0;
		for (const { name } of this.#views?.budgets.budgets() ?? []) waiting += this.#local?.lineLength(name) ?? 0;
		return waiting;
	}
}

/** Waits at most this long. */
async function within(ms: number, work: Promise<void>): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	const timer = setTimeout(resolve, ms);
	await Promise.race([work, promise]);
	clearTimeout(timer);
}
