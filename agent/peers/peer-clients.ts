// Keeps a mutual TLS connection to another agent for each member and address. Connections are replaced when this agent's certificate or the
// CA changes. The server's certificate must name the dialled member.
import { createAgentClient } from "../../proto/credentials.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import type { Certificates } from "../tls/certificates.ts";

interface PeerClientsOptions {
	readonly certificates: Pick<Certificates, "current" | "onChange">;
	/** The name that every agent's certificate must have. */
	readonly serverName: string;
}

interface PeerAddress {
	/** The cluster id that its certificate must name. */
	readonly id: string;
	/** HOST:PORT. */
	readonly address: string;
}

export class PeerClients {
	readonly #options: PeerClientsOptions;
	readonly #clients = new Map<string, AgentServiceClient>();
	readonly #stopListening: () => void;

	constructor(options: PeerClientsOptions) {
		this.#options = options;
		// Calls under way continue over the old connections.
		this.#stopListening = options.certificates.onChange(() => this.#closeAll());
	}

	/** Returns the client for this agent. Get it again for each call, because connections are replaced. */
	get({ id, address }: PeerAddress): AgentServiceClient {
		const known = this.#clients.get(keyOf({ id, address }));
		if (known) return known;
		const { certificate, privateKey, ca } = this.#options.certificates.current;
		const client = createAgentClient({
			address,
			serverName: this.#options.serverName,
			ca,
			identity: { kind: "certificate", certificate, privateKey },
			member: id,
		});
		this.#clients.set(keyOf({ id, address }), client);
		return client;
	}

	/** Closes the connections to all agents but these. */
	keep(peers: readonly PeerAddress[]): void {
		const needed = new Set(peers.map(keyOf));
		for (const [key, client] of this.#clients) {
			if (needed.has(key)) continue;
			client.close();
			this.#clients.delete(key);
		}
	}

	close(): void {
		this.#stopListening();
		this.#closeAll();
	}

	#closeAll(): void {
		for (const client of this.#clients.values()) client.close();
		this.#clients.clear();
	}
}

function keyOf({ id, address }: PeerAddress): string {
	return `${id} ${address}`;
}
