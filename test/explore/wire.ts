// The wire of one run: plugins and agents call agents through the shipped client and server, over the simulated network. The judge sees
// what an agent answers and what a caller reads.
import type { PeerClients } from "../../agent/peers/peer-clients.ts";
import { Peers } from "../../agent/peers/peers.ts";
import type { AcquireOutcome, Count } from "../../disruption/budget/cluster.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { clusterBehind, forwardingCluster } from "../../proto/forwarding-cluster.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { greetAgent, type Greeting, type GreetingReply } from "../../proto/greet.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import { AgentProcess } from "./agent-process.ts";
import { running } from "./await-points.ts";
import type { KnownBudgets } from "./known-budgets.ts";
import { type Network, routesTo } from "./network.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { wireClient } from "./wire-client.ts";
import type { WireAnswer, WireRequest } from "./wire-message.ts";
import { type Answering, WireServer } from "./wire-server.ts";

const greetDeadlineMs = 4_000;

export interface WireOptions {
	readonly network: Network;
	readonly budgets: KnownBudgets;
	readonly cluster: (id: string) => SimulatedCluster;
	/** Whether this agent forwards callers to another agent. Then only the other agent's line counts. */
	readonly passesOn: (agent: AgentProcess) => boolean;
	/** Called when a caller that does not wait gets a Lease before callers that wait in line. */
	readonly onPassedLine: (agent: AgentProcess, what: string) => void;
	/** Called when an agent has answered a greeting of this cluster. */
	readonly onGreeted: (agent: AgentProcess, id: string) => void;
	readonly onBug: (where: string, error: unknown) => void;
}

export interface WireMember {
	readonly id: string;
	/** The agent to ask, as an index into the living agents. Undefined, or no such agent: any living agent can be asked. */
	readonly agent: number | undefined;
	/** The cluster whose agents are asked and forward the call to the member. Undefined: the member itself. */
	readonly through?: string | undefined;
	/** Set on a call that was already forwarded to the agent that keeps the line. */
	readonly passedOn?: "line";
	readonly writtenHolds: boolean;
}

/** What an agent said in the answer to one call. */
interface Heard {
	said?: unknown;
}

export class Wire {
	readonly #options: WireOptions;
	readonly #servers = new WeakMap<AgentProcess, WireServer>();

	constructor(options: WireOptions) {
		this.#options = options;
	}

	member(from: SimulatedProcess, { id, agent, through = id, passedOn, writtenHolds }: WireMember): AgentCluster {
		const remote = clusterBehind({ id, name: id }, (put) => {
			const heard: Heard = {};
			const client = this.#client(from, { to: through, agent, heard });
			const cluster = new RemoteCluster({ id, name: id, client, ...(passedOn && { passedOn }) });
			return put(this.#hearing(cluster, () => heard.said, { isCaller: true }));
		});
		return writingHolds(remote, writtenHolds);
	}

	/** Returns a client of a cluster's agents, for a plugin that discovers its fleet. Their answers are collected in `said`, for met(). */
	client(
		from: SimulatedProcess,
		to: string,
		{ said, onDescribe }: { readonly said: Map<string, unknown>; readonly onDescribe: () => void },
	): AgentServiceClient {
		return wireClient(async (request) => {
			if (request.method === "describe") onDescribe();
			const answer = await this.#send(from, request, { to, agent: undefined });
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fields of the two that are noted
			const { clusterId, nonce, acquisition } = request.asked as Partial<wire.AcquireRequest & wire.CountRequest>;
			said.set(`${clusterId} ${acquisition?.nonce ?? nonce}`, answer.said);
			return answer;
		});
	}

	/** Wraps a member that was discovered over clients that client() returned. */
	met(member: AgentCluster, said: ReadonlyMap<string, unknown>, { writtenHolds }: Pick<WireMember, "writtenHolds">) {
		const hearing = this.#hearing(member, (nonce) => said.get(`${member.id} ${nonce}`), { isCaller: true });
		return writingHolds(hearing, writtenHolds);
	}

	greet(from: AgentProcess, id: string, greeting: Greeting): Promise<GreetingReply> {
		const client = this.#client(from, { to: id, agent: undefined, heard: {} });
		return greetAgent(client, { to: { id, name: id }, greeting, deadlineMs: greetDeadlineMs });
	}

	#client(
		from: SimulatedProcess,
		{ to, agent, heard }: { readonly to: string; readonly agent: number | undefined; readonly heard: Heard },
	) {
		return wireClient(async (request) => {
			const answer = await this.#send(from, request, { to, agent });
			heard.said = answer.said;
			return answer;
		});
	}

	async #send(
		from: SimulatedProcess,
		request: WireRequest,
		{ to, agent }: { readonly to: string; readonly agent: number | undefined },
	): Promise<WireAnswer> {
		const { network, cluster } = this.#options;
		const { what, signal, method } = request;
		const agents = (): readonly AgentProcess[] => {
			const alive = cluster(to).agents.filter((each) => each.alive);
			const own = agent === undefined ? undefined : alive[agent];
			return own ? [own] : alive;
		};
		const first = method === "commit" ? this.#takeAsked(request, to) : undefined;
		const member = from instanceof AgentProcess ? from.local.id : undefined;
		let isOver = false;
		const sent = {
			...request,
			onMessage: (bytes: Buffer): void => {
				if (!isOver && from.alive && !from.isStopped) running.run(from, () => request.onMessage(bytes));
			},
		};
		try {
			return await network.send<WireAnswer>({
				from,
				cluster: to,
				what,
				detail: () => request.bytes.toString("base64"),
				routes: routesTo(
					() => (first?.alive && agents().includes(first) ? [first] : agents()),
					(at, gone) => this.#server(at).answer(sent, { name: from.name, member }, gone),
				),
				mayDouble: true,
				signal,
			});
		} finally {
			isOver = true;
		}
	}

	/**
	 * Returns the agent that a commit goes to first. Undefined at a member that only forwards the commit, because its agents were not asked
	 * for the count.
	 */
	#takeAsked({ asked }: WireRequest, to: string): AgentProcess | undefined {
		// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the request of a commit
		const { clusterId, acquisition } = asked as wire.CommitRequest;
		return acquisition && clusterId === to ? this.#options.budgets.takeAsked(acquisition) : undefined;
	}

	#server(agent: AgentProcess): WireServer {
		let server = this.#servers.get(agent);
		if (!server) this.#servers.set(agent, (server = this.#makeServer(agent)));
		return server;
	}

	#makeServer(agent: AgentProcess): WireServer {
		const { local, fleet, greetings } = agent;
		const peersOf = (heard: Heard): Peers => {
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that Peers asks of it
			const clients = {
				get: ({ id: to }: { readonly id: string }) => this.#client(agent, { to, agent: undefined, heard }),
				keep: () => undefined,
			} as unknown as PeerClients;
			return new Peers({ clients, fleet, clusterId: local.id, clusterName: local.name });
		};
		return new WireServer({
			agent,
			greetings: greetings && {
				id: local.id,
				name: local.name,
				receive: async (greeting) => {
					const reply = await greetings.receive(greeting);
					this.#options.onGreeted(agent, greeting.id);
					return reply;
				},
			},
			others: (caller) => peersOf({}).othersFor(caller),
			member: (...asked) => {
				const heard: Heard = {};
				return peersOf(heard)
					.member(...asked)
					.then((member) => this.#hearing(member, () => heard.said, { isCaller: false }));
			},
			judged: (cluster, answering) => this.#judged(cluster, agent, answering),
			onBug: (error) => this.#options.onBug(agent.name, error),
		});
	}

	/** Wraps the cluster as an agent serves it: its own, or another one to which it forwards calls. */
	#judged(cluster: AgentCluster, agent: AgentProcess, answering: Answering): AgentCluster {
		const { budgets, passesOn, onPassedLine } = this.#options;
		const isOwn = cluster.id === agent.local.id;
		return forwardingCluster(cluster, {
			acquire: async (request, options) => {
				const waiting = !isOwn || passesOn(agent) ? 0 : agent.local.lineLength(request.budget);
				const known = budgets.knownTo(agent);
				const askedAt = budgets.now;
				const outcome = await cluster.acquire(request, options);
				answering.said = outcome;
				if (outcome.kind !== "acquired" || !isOwn) return outcome;
				budgets.counted(agent, outcome, known, askedAt);
				if (!options.wait && waiting > 0) onPassedLine(agent, `${answering.caller.name} under ${request.budget.name}`);
				return outcome;
			},
			count: async (acquisition, request) => {
				const known = budgets.knownTo(agent);
				const count = await cluster.count(acquisition, request);
				answering.said = count;
				if (isOwn) budgets.counted(agent, { acquisition, count }, known);
				return count;
			},
		});
	}

	/** Wraps the cluster as its caller, or a forwarding agent, reads its answers. Tells the judge from which count each copy was made. */
	#hearing(
		cluster: AgentCluster,
		saidOf: (nonce: string) => unknown,
		{ isCaller }: { readonly isCaller: boolean },
	): AgentCluster {
		const { budgets } = this.#options;
		return forwardingCluster(cluster, {
			acquire: async (request, options) => {
				const outcome = await cluster.acquire(request, options);
				if (outcome.kind !== "acquired") return outcome;
				// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what #judged noted of this call
				const said = saidOf(outcome.acquisition.nonce) as AcquireOutcome | undefined;
				if (said?.kind === "acquired") budgets.copied(said.count, outcome.count);
				if (isCaller) budgets.heard(outcome);
				return outcome;
			},
			count: async (acquisition, request) => {
				const count = await cluster.count(acquisition, request);
				// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
				const said = saidOf(acquisition.nonce) as Count | undefined;
				if (said) budgets.copied(said, count);
				if (isCaller) budgets.heard({ acquisition, count });
				return count;
			},
		});
	}
}

function writingHolds(cluster: AgentCluster, all: boolean): AgentCluster {
	return forwardingCluster(cluster, {
		acquire: (request, options) => cluster.acquire(all ? { ...request, mayBeUnwritten: false } : request, options),
	});
}
