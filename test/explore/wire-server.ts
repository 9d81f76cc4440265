// An agent's service as callers reach it: the shipped handlers and gates of both ports, over bytes instead of connections.
//
// Only the checks of tokens and of rights are imitated: every plugin has a token with the right to all budgets.
import { EventEmitter } from "node:events";
import type { Metadata, StatusObject } from "@grpc/grpc-js";
import { createAgentService } from "../../agent/server/agent-service.ts";
import { CallPipeline } from "../../agent/server/call-pipeline.ts";
import { createPeerGate, createTokenGate, type Gate } from "../../agent/server/gate.ts";
import type { GreetingReceiver } from "../../agent/peers/greetings.ts";
import { HeldLeases } from "../../agent/server/held-leases.ts";
import { OpenCalls } from "../../agent/server/open-calls.ts";
import { PeerIdentity } from "../../agent/server/peer-identity.ts";
import { isDomainError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { memberUri } from "../../proto/member-certificate.ts";
import type { AgentProcess } from "./agent-process.ts";
import { definitionOf, WireAnswer, type WireMethod, type WireRequest } from "./wire-message.ts";

const serverName = "xpdb-agent";

export interface WireCaller {
	readonly name: string;
	/** The cluster of the calling agent. Undefined for a plugin. */
	readonly member: string | undefined;
}

/** One call while it is served. */
export interface Answering {
	readonly caller: WireCaller;
	/** The answer, for the judge. */
	said?: unknown;
}

export interface WireServerOptions {
	readonly agent: AgentProcess;
	readonly greetings: GreetingReceiver | undefined;
	/** Returns another member, to which a call is forwarded. */
	readonly member: Parameters<typeof createTokenGate>[0]["member"];
	/** Returns all other members, for a plugin that discovers its fleet. */
	readonly others: Parameters<typeof createTokenGate>[0]["others"];
	/** Wraps the cluster that answers, so that the judge sees its answers. */
	readonly judged: (cluster: AgentCluster, answering: Answering) => AgentCluster;
	/** Called with errors that the code under test must never throw. */
	readonly onBug: (error: unknown) => void;
}

type Handler = (call: unknown, callback: (refusal: Partial<StatusObject> | null, response?: unknown) => void) => void;
type Handlers = Readonly<Record<WireMethod, Handler>>;

export class WireServer {
	readonly #ports: { readonly token: Handlers; readonly peer: Handlers };
	/** By the call's metadata, because a gate's route() does not get the call. */
	readonly #answering = new WeakMap<Metadata, Answering>();

	constructor({ agent, greetings, member, others, judged, onBug }: WireServerOptions) {
		const { local, clock, fleet } = agent;
		const now = (): number => clock.now();
		const tokenGate = createTokenGate({
			identity: {
				check: async ([name]) => {
					const user = { username: String(name), uid: "", groups: [], extra: {} };
					return { kind: "authenticated", caller: { kind: "token", user, tokenId: "", tokenHash: String(name) } };
				},
			},
			rights: { refusal: async () => undefined },
			local,
			member,
			others,
		});
		const wallClock = (): number => clock.wallSeconds() * 1_000;
		const identity = new PeerIdentity({ serverName, local, fleet, wallClock });
		const watcher = {
			answered: () => undefined,
			failed: (_: string, error: unknown) => {
				if (!isDomainError(error)) onBug(error);
			},
			acquired: () => undefined,
			committed: () => undefined,
		};
		const openCalls = new OpenCalls(local.name);
		const held = new HeldLeases({ now, cluster: local.name });
		const audit = { ended: () => undefined };
		const stopping = new AbortController().signal;
		const handlers = (gate: Gate): Handlers => {
			const route: Gate["route"] = async (clusterId, metadata, caller, way) => {
				const answering = this.#answering.get(metadata);
				if (!answering) throw new Error("a call that nobody made");
				return judged(await gate.route(clusterId, metadata, caller, way), answering);
			};
			const pipeline = new CallPipeline({ gate: { ...gate, route }, watcher, audit, openCalls });
			const service = createAgentService({ pipeline, watcher, openCalls, held, greetings, clock, stopping });
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each handler gets the messages of its method
			return service as unknown as Handlers;
		};
		this.#ports = { token: handlers(tokenGate), peer: handlers(createPeerGate({ local, identity })) };
	}

	/** `gone` returns a signal that aborts when the caller stops waiting. */
	answer(
		{ method, bytes, metadata: sent, onMessage }: WireRequest,
		caller: WireCaller,
		gone: () => AbortSignal,
	): Promise<WireAnswer> {
		const { path, requestDeserialize, responseSerialize } = definitionOf(method);
		const metadata = sent.clone();
		metadata.set("authorization", caller.name);
		const answering: Answering = { caller };
		this.#answering.set(metadata, answering);
		const certificate = caller.member !== undefined && {
			subject: {},
			subjectaltname: `DNS:${serverName}, URI:${memberUri(caller.member)}`,
			valid_to: "Jan 1 00:00:00 2100 GMT",
		};
		const common = {
			request: requestDeserialize(bytes),
			metadata,
			getAuthContext: () => (certificate ? { sslPeerCertificate: certificate } : {}),
			getPath: () => path,
			getPeer: () => "192.0.2.1:1",
			sendMetadata: () => undefined,
		};
		const handler = this.#ports[caller.member === undefined ? "token" : "peer"][method];
		return new Promise((resolve) => {
			const end = (refusal: Partial<StatusObject> | null, response?: Buffer): void => {
				const { said } = answering;
				resolve(new WireAnswer(refusal ? { refusal } : { ...(response && { bytes: response }), said }));
			};
			if (method === "acquire") handler(new AcquireStream(common, { gone, onMessage, end }), () => undefined);
			else handler(common, (refusal, response) => end(refusal, refusal ? undefined : responseSerialize(response)));
		});
	}
}

interface StreamEnds {
	readonly gone: () => AbortSignal;
	readonly onMessage: (bytes: Buffer) => void;
	readonly end: (refusal: Partial<StatusObject> | null, last?: Buffer) => void;
}

/** The stream of an acquire as gRPC gives it to a handler. Places in line are sent at once, and the answer comes with the end. */
class AcquireStream extends EventEmitter {
	declare readonly request: wire.AcquireRequest;
	readonly #ends: StreamEnds;
	readonly #gone: AbortSignal;
	#last: Buffer | undefined;

	constructor(common: object, ends: StreamEnds) {
		super();
		Object.assign(this, common);
		this.#ends = ends;
		this.#gone = ends.gone();
		this.#gone.addEventListener("abort", () => this.emit("cancelled"), { once: true });
		this.once("error", (refusal: Partial<StatusObject>) => ends.end(refusal));
	}

	get cancelled(): boolean {
		return this.#gone.aborted;
	}

	write(message: wire.AcquireResponse, onWritten?: () => void): void {
		const bytes = definitionOf("acquire").responseSerialize(message);
		if (this.request.wait && message.outcome?.$case === "held") this.#ends.onMessage(bytes);
		else this.#last = bytes;
		onWritten?.();
	}

	end(): void {
		this.#ends.end(null, this.#last);
	}
}
