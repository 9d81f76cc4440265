// Assembles, starts and stops the agent.
import { AgentUnavailableError, GarbledLeaseError } from "../disruption/errors.ts";
import { heapFullExitCode } from "../disruption/heap-full-exit-code.ts";
import { parseLease } from "../disruption/lease/lease.ts";
import packageJson from "../package.json" with { type: "json" };
import { agentServerName } from "../proto/credentials.ts";
import { startBackgroundJobs } from "./background-jobs.ts";
import { type ConnectedCluster, connectCluster } from "./cluster-api/connect-cluster.ts";
import { RecentFleet } from "./cluster-api/recent-fleet.ts";
import { withSharedReads } from "./cluster-api/shared-reads.ts";
import { inClusterAccess, kubeconfigAccess } from "./kubernetes/api-access.ts";
import { BudgetExistence } from "./leases/budget-existence.ts";
import { BudgetHistories } from "./leases/budget-histories.ts";
import { BudgetsElsewhere } from "./leases/budgets-elsewhere.ts";
import { relayLeaseChanges } from "./leases/relay-lease-changes.ts";
import { LocalCluster } from "./leases/local-cluster.ts";
import type { GreetingReceiver } from "./peers/greetings.ts";
import { createMembership } from "./peers/membership.ts";
import { PeerClients } from "./peers/peer-clients.ts";
import { Peers } from "./peers/peers.ts";
import { findPeerAddress } from "./peers/pod-address.ts";
import { Replicas } from "./peers/replicas.ts";
import type { AgentConfig, ListenAddress } from "./process/config.ts";
import { startHealthServer } from "./process/health.ts";
import { heapGuard, readHeapUse } from "./process/heap-guard.ts";
import type { Logger } from "./process/log.ts";
import { createMetrics } from "./process/metrics.ts";
import { createProblemLog } from "./process/problem-log.ts";
import { type PeriodicJob, PeriodicWork } from "./process/periodic-work.ts";
import { Readiness } from "./process/readiness.ts";
import { systemClock } from "./process/system-clock.ts";
import { createAuditLog } from "./server/audit-log.ts";
import { createCallWatcher } from "./server/call-watcher.ts";
import { callerFields } from "./peers/caller.ts";
import { CallerDeadlines } from "./server/caller-deadlines.ts";
import { Certificates } from "./tls/certificates.ts";
import { createPeerGate, createTokenGate, type Gate } from "./server/gate.ts";
import { HeldLeases } from "./server/held-leases.ts";
import { Identity } from "./server/identity.ts";
import { OpenCalls } from "./server/open-calls.ts";
import { PeerIdentity } from "./server/peer-identity.ts";
import { ReviewRate } from "./server/review-rate.ts";
import { createReviews } from "./server/reviews.ts";
import { Rights } from "./server/rights.ts";
import { type AgentServer, startAgentServer } from "./server/server.ts";
import { withFailPoints } from "./views/fail-points.ts";
import { whyNotReady, whySlow } from "./views/view-progress.ts";
import { openViews, type Views } from "./views/views.ts";
import { withWatchedLeases } from "./views/watched-leases.ts";

interface AgentOptions {
	readonly config: AgentConfig;
	readonly env: NodeJS.ProcessEnv;
	readonly log: Logger;
}

interface Connected {
	readonly connected: ConnectedCluster;
	readonly views: Views;
	readonly certificates: Certificates;
}

interface Listening {
	readonly connected: ConnectedCluster;
	readonly local: LocalCluster;
	readonly fleet: RecentFleet;
	readonly peers: Peers;
	readonly greetings: GreetingReceiver;
	readonly certificates: Certificates;
}

/** Releasing a Lease takes two requests of at most 5 s each; all Leases are released in parallel. */
const releaseMs = 10_000;
/** Calls have 5 s to end; callers waiting in line reconnect. */
const renewMs = 5_000;
/**
 * A second more than most calls may take; callers waiting in line are sent away immediately. Together with releaseMs, this stays below the
 * 25 s of main.ts.
 */
const drainMs = 6_000;

export class Agent {
	readonly #options: AgentOptions;
	readonly #serverName: string;
	readonly #metrics = createMetrics({ version: packageJson.version });
	readonly #readiness = new Readiness();
	readonly #report: (problem: unknown) => void;
	readonly #periodic: PeriodicWork;
	readonly #stopping = new AbortController();
	readonly #closers = new AsyncDisposableStack();

	constructor(options: AgentOptions) {
		this.#options = options;
		this.#serverName = agentServerName(options.config.agentNamespace);
		this.#report = createProblemLog(this.#metrics, options.log, () => systemClock.now());
		this.#periodic = new PeriodicWork({ clock: systemClock, report: this.#report });
	}

	get isStopping(): boolean {
		return this.#stopping.signal.aborted;
	}

	/** Resolves when the ports are open; readiness follows when the first lists are done. Rejects if the agent cannot start. */
	async start(): Promise<void> {
		const { config, env, log } = this.#options;
		const certificates = new Certificates({ files: config, serverName: this.#serverName, report: this.#report });
		this.#periodic.begin(certificates.job);
		this.#metrics.readFrom({ certificateExpiry: () => certificates.expiry });
		this.#readiness.add(() => (this.isStopping ? "The agent is shutting down" : undefined));
		const isConnected = this.#readiness.waitFor("The API server has not answered yet");
		const health = await startHealthServer({
			address: config.httpListen,
			readiness: this.#readiness,
			metrics: this.#metrics.registry,
			clock: systemClock,
		});
		this.#closers.defer(() => health.close());
		this.#closers.defer(() => this.#periodic.close());
		const connected = await connectCluster({
			access: config.kubeconfig ? await kubeconfigAccess({ path: config.kubeconfig }) : inClusterAccess({ env }),
			config,
			clock: systemClock,
			signal: this.#stopping.signal,
			onTrouble: this.#report,
		});
		this.#closers.defer(() => connected.connection.close());
		certificates.requireMember(connected.api.clusterId);
		const views = this.#openViews(connected);
		isConnected();
		await this.#serve({ connected, views, certificates });
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
		this.#stopping.abort();
		await this.#closers.disposeAsync();
	}

	#openViews({ connection, clusterName }: ConnectedCluster): Views {
		const { config, env } = this.#options;
		const views = openViews({
			connection,
			clock: systemClock,
			leaseNamespace: config.leaseNamespace,
			env,
			onTrouble: (resource, message) => {
				this.#metrics.watchRestarts.inc({ resource });
				this.#report(new AgentUnavailableError(message, clusterName));
			},
			report: this.#report,
		});
		this.#closers.defer(() => views.close());
		this.#periodic.begin(this.#heapGuard(() => views.pods.size));
		this.#readiness.add(() => whyNotReady(views, connection));
		return views;
	}

	#heapGuard(pods: () => number): PeriodicJob {
		const { log } = this.#options;
		const advice = "Give the agents more memory: kubectl xpdb upgrade --agent-memory=QUANTITY";
		const gc = globalThis.gc;
		return heapGuard({
			read: readHeapUse,
			collect: gc && (() => gc({ type: "major", execution: "sync", flavor: "last-resort" })),
			now: () => systemClock.now(),
			warn: (heap) =>
				log.warn({ ...heap, pods: pods() }, `The heap is nearly full. When it is, the agent ends. ${advice}`),
			end: (heap) => {
				log.fatal({ ...heap, pods: pods() }, `The agent ends, because its heap is full. ${advice}`);
				process.exit(heapFullExitCode);
			},
		});
	}

	async #serve({ connected, views, certificates }: Connected): Promise<void> {
		const { config, env } = this.#options;
		const { connection, api, clusterName } = connected;
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
			fleetConfigMap: `${config.agentNamespace}/${config.fleetConfigMap}`,
			clients: this.#peerClients(certificates),
			greeter: () => replicas.lineHost(),
			clock: systemClock,
			random: Math.random,
			metrics: this.#metrics,
			report: this.#report,
		});
		this.#closers.defer(() => membership.close());
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
			ownPod: config.pod,
			whySlow: () => whySlow(views),
			lineHost: (onBehalfOf) => replicas.lineHost(onBehalfOf),
			budgetElsewhere: (budget) => elsewhere.find(budget),
			beforeCreating: (budget) => existence.assertExists(budget),
			report: this.#report,
		});
		this.#closers.defer(relayLeaseChanges(views.leases, local, this.#report));
		this.#metrics.readFrom({
			reservations: () => countReservations(views.leases),
			waiting: () => [...views.budgets.budgets()].reduce((sum, { name }) => sum + local.lineLength(name), 0),
			watchers: () => local.watchers,
			pods: () => views.pods.size,
			viewSilentMs: () => views.pods.silentMs,
			podListMs: () => views.podListMs,
			members: () => membership.known.census,
		});
		await this.#listen({ connected, local, fleet, peers, greetings: membership.receiver, certificates });
		startBackgroundJobs({
			periodic: this.#periodic,
			local,
			api: membership.api,
			membership,
			peers,
			views,
			histories,
			clock: systemClock,
			isFollower: () => replicas.lineHost() !== undefined,
			report: this.#report,
		});
	}

	async #listen({ connected, local, fleet, peers, greetings, certificates }: Listening): Promise<void> {
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
		const stopping = new AbortController();
		const openCalls = new OpenCalls(clusterName);
		const held = new HeldLeases({
			now,
			cluster: clusterName,
			onEnded: (heldMs) => this.#metrics.heldSeconds.observe(heldMs / 1000),
		});
		const deadlines = new CallerDeadlines({
			api: connection,
			clock: systemClock,
			wallClock: () => Date.now(),
			cluster: clusterName,
		});
		const watcher = createCallWatcher({ metrics: this.#metrics, log });
		const audit = createAuditLog(log);
		const servers: AgentServer[] = [];
		const listen = async (address: ListenAddress, gate: Gate): Promise<void> => {
			const server = await startAgentServer({
				address,
				credentials: certificates.serverCredentials({ peers: gate.port === "peer" }),
				gate,
				watcher,
				audit,
				openCalls,
				held,
				greetings,
				deadlines,
				clock: systemClock,
				cluster: clusterName,
				stopping: stopping.signal,
			});
			servers.push(server);
		};
		const tokenGate = createTokenGate({
			identity,
			rights,
			local,
			member: (...asked) => peers.member(...asked),
			others: (caller) => peers.othersFor(caller),
		});
		// Registered before the ports open: from then on callers can acquire Leases, and the agent may be stopped at any time.
		this.#closers.defer(async () => {
			const reason = `the agent of cluster "${clusterName}" is shutting down`;
			stopping.abort(new AgentUnavailableError(reason, clusterName));
			await within(releaseMs, this.#releaseLeases(held, local));
			await Promise.all(servers.map((server) => server.close(drainMs)));
		});
		await Promise.all([
			listen(config.listen, tokenGate),
			listen(config.peerListen, createPeerGate({ local, identity: peerIdentity })),
		]);
		this.#stopping.signal.throwIfAborted();
		certificates.onChange(() => {
			for (const server of servers) server.renewConnections(renewMs);
		});
	}

	#peerClients(certificates: Certificates): PeerClients {
		const clients = new PeerClients({ certificates, serverName: this.#serverName });
		this.#closers.defer(() => clients.close());
		return clients;
	}

	async #releaseLeases(held: HeldLeases, local: LocalCluster): Promise<void> {
		const problems = await held.releaseAll();
		await local.close();
		for (const problem of problems) this.#report(problem);
	}
}

function countReservations(view: Views["leases"]): number {
	let count = 0;
	for (const object of view.leases()) {
		try {
			count += parseLease(object).state.reservations.length;
		} catch (error) {
			if (!(error instanceof GarbledLeaseError)) throw error;
		}
	}
	return count;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	const timer = setTimeout(resolve, ms);
	await Promise.race([work, promise]);
	clearTimeout(timer);
}
