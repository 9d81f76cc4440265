// Limits the connections of one port. Until a call on it was admitted, a connection lives only for seconds, and may be closed in favor of a
// newer one. A connection is closed after several refused calls in a row. Clients can reconnect, and no decision depends on a connection.
import { isLoopback } from "./is-loopback.ts";
import { networkOf } from "./network-of.ts";

export interface Connection {
	readonly remoteAddress?: string | undefined;
	readonly remotePort?: number | undefined;
	once(event: "close", listener: () => void): unknown;
	destroy(): unknown;
}

interface Known {
	readonly connection: Connection;
	readonly address: string;
	readonly network: string;
	readonly stopWaiting: () => void;
	/** The caller that was last admitted over this connection; "" if none was. */
	caller: string;
	refusals: number;
}

interface ConnectionsOptions {
	readonly after: (ms: number, action: () => void) => () => void;
}

/** A connection takes about 60 KB with TLS and HTTP/2: 15 MB of the 120 MB that a working agent leaves of its limit of 224Mi. */
const maxConnections = 256;
/** Does not apply to loopback: everyone who uses a port-forward has that address. */
const maxPerAddress = 64;
/**
 * The same for an IPv6 network, whose owner can take a new address for each connection. But only until a caller is admitted: the agents of a
 * large fleet may all be in one such network.
 */
const maxUnprovenPerNetwork = 64;
/** A team may share one account; half of the connections stay for other callers. */
const maxPerCaller = 128;
/** Time for a handshake, and for a token review, which may take 5 s. */
const unprovenMs = 10_000;
/** A plugin whose token has just expired may have several open calls. */
const maxRefusals = 20;
/** Lets the refusal reach its caller. */
const lingerMs = 100;
/**
 * One packet may hold some 400 calls, and each costs half a millisecond. A client that sends this many although they are refused ignores
 * refusals.
 */
const maxCallsWhileEnding = 100;

export class Connections {
	readonly #options: ConnectionsOptions;
	/** By "ADDRESS:PORT" of the client, as grpc-js names a peer; oldest first. */
	readonly #byPeer = new Map<string, Known>();

	constructor(options: ConnectionsOptions) {
		this.#options = options;
	}

	get size(): number {
		return this.#byPeer.size;
	}

	/** Registers a new connection, and may close another one for it. Returns whether it may be served. */
	accept(connection: Connection): boolean {
		const { remoteAddress: address = "", remotePort: port = 0 } = connection;
		const fromThere = [...this.#byPeer.values()].filter((known) => known.address === address);
		const full = !isLoopback(address) && fromThere.length >= maxPerAddress;
		if (full && !closeOldestUnproven(fromThere)) return false;
		const network = networkOf(address);
		if (network !== address && !isLoopback(address)) this.#makeRoomIn(network);
		if (this.#byPeer.size >= maxConnections && !closeOldestUnproven(this.#byPeer.values())) return false;
		const peer = `${address}:${port}`;
		const known: Known = {
			connection,
			address,
			network,
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

	/** Closes a connection of the address that has the most, so that one address of a network does not crowd the others out. */
	#makeRoomIn(network: string): void {
		const unproven = [...this.#byPeer.values()].filter((known) => known.network === network && known.caller === "");
		if (unproven.length < maxUnprovenPerNetwork) return;
		const byAddress = [...Map.groupBy(unproven, ({ address }) => address).values()];
		closeOldestUnproven(byAddress.reduce((most, next) => (next.length > most.length ? next : most)));
	}

	/** Records that a call of this caller was admitted. Closes the caller's oldest connection if there are too many. */
	admitted(peer: string, caller: string): void {
		const known = this.#byPeer.get(peer);
		if (!known) return;
		known.refusals = 0;
		if (known.caller === caller) return;
		known.caller = caller;
		const theirs = [...this.#byPeer.values()].filter((each) => each.caller === caller);
		if (theirs.length > maxPerCaller) theirs[0]?.connection.destroy();
	}

	/** Whether the connection from this peer is about to be closed. Ignore its later calls. */
	isEnding(peer: string): boolean {
		return (this.#byPeer.get(peer)?.refusals ?? 0) >= maxRefusals;
	}

	/** Records that a call from this peer was refused unread, never sent completely, or cancelled before it was judged. */
	refused(peer: string): void {
		const known = this.#byPeer.get(peer);
		if (!known) return;
		known.refusals++;
		if (known.refusals === maxRefusals) this.#options.after(lingerMs, () => known.connection.destroy());
		if (known.refusals === maxCallsWhileEnding) known.connection.destroy();
	}

	/** After this time, closes the connections that exist now. */
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
