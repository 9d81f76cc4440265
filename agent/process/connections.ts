// Limits the connections of one port. Until a call on it was admitted, a connection lives only for seconds, and may be closed for a newer
// one. A connection on which calls are only refused is ended. A client can open a closed connection again, and no decision depends on it.
import { isLoopback } from "./is-loopback.ts";

/** The parts of a socket that are needed here. */
export interface Connection {
	readonly remoteAddress?: string | undefined;
	readonly remotePort?: number | undefined;
	once(event: "close", listener: () => void): unknown;
	destroy(): unknown;
}

interface Known {
	readonly connection: Connection;
	readonly address: string;
	readonly stopWaiting: () => void;
	/** The caller that was last admitted over it; "" until one was. */
	caller: string;
	refusals: number;
}

interface ConnectionsOptions {
	readonly after: (ms: number, action: () => void) => () => void;
}

/** About 60 KB each with TLS and HTTP/2: 15 MB of the 120 MB between a working agent and its limit of 224Mi. */
const maxConnections = 256;
/** Loopback has no such limit: people come from there by port-forward, and share that address. */
const maxPerAddress = 64;
/** An account that a team shares; half of the connections stay for others. */
const maxPerCaller = 128;
/** Time for a handshake, and for a review by an API server under load, which may take 5 s. */
const unprovenMs = 10_000;
/** A plugin whose token just expired has some calls under way. */
const maxRefusals = 20;
/** Time for the refusal to reach its caller. */
const lingerMs = 100;
/**
 * A packet may have some 400 calls, and each costs half a millisecond. A client that sends this many over one connection, although they are
 * refused, ignores refusals.
 */
const maxCallsWhileEnding = 100;

export class Connections {
	readonly #options: ConnectionsOptions;
	/** By "ADDRESS:PORT" of the other end, as grpc-js names a peer; oldest first. */
	readonly #byPeer = new Map<string, Known>();

	constructor(options: ConnectionsOptions) {
		this.#options = options;
	}

	get size(): number {
		return this.#byPeer.size;
	}

	/** Takes in a new connection, and may close another one for it. Returns whether it may be served. */
	accept(connection: Connection): boolean {
		const { remoteAddress: address = "", remotePort: port = 0 } = connection;
		const fromThere = [...this.#byPeer.values()].filter((known) => known.address === address);
		const full = !isLoopback(address) && fromThere.length >= maxPerAddress;
		if (full && !closeOldestUnproven(fromThere)) return false;
		if (this.#byPeer.size >= maxConnections && !closeOldestUnproven(this.#byPeer.values())) return false;
		const peer = `${address}:${port}`;
		const known: Known = {
			connection,
			address,
			caller: "",
			refusals: 0,
			stopWaiting: this.#options.after(unprovenMs, () => {
				if (known.caller === "") connection.destroy();
			}),
		};
		this.#byPeer.set(peer, known);
		connection.once("close", () => {
			known.stopWaiting();
			if (this.#byPeer.get(peer) === known) this.#byPeer.delete(peer);
		});
		return true;
	}

	/**
	 * Records that a call of this caller was admitted over the connection from that peer. Closes the caller's oldest connection if it has
	 * too many.
	 */
	admitted(peer: string, caller: string): void {
		const known = this.#byPeer.get(peer);
		if (!known) return;
		known.refusals = 0;
		if (known.caller === caller) return;
		known.caller = caller;
		const theirs = [...this.#byPeer.values()].filter((each) => each.caller === caller);
		if (theirs.length > maxPerCaller) theirs[0]?.connection.destroy();
	}

	/** Whether the connection from that peer is about to be closed: ignore what still comes over it. */
	isEnding(peer: string): boolean {
		return (this.#byPeer.get(peer)?.refusals ?? 0) >= maxRefusals;
	}

	/**
	 * Records that a call from that peer was refused before any part of it was read, was never sent completely, or was cancelled before it
	 * was judged.
	 */
	refused(peer: string): void {
		const known = this.#byPeer.get(peer);
		if (!known) return;
		known.refusals++;
		if (known.refusals === maxRefusals) this.#options.after(lingerMs, () => known.connection.destroy());
		if (known.refusals === maxCallsWhileEnding) known.connection.destroy();
	}

	/** Closes the connections that exist now when the time is over. */
	endAfter(ms: number): void {
		const standing = [...this.#byPeer.values()];
		this.#options.after(ms, () => {
			for (const { connection } of standing) connection.destroy();
		});
	}
}

function closeOldestUnproven(candidates: Iterable<Known>): boolean {
	for (const { caller, connection } of candidates) {
		if (caller !== "") continue;
		connection.destroy();
		return true;
	}
	return false;
}
