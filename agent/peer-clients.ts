// Connections to other agents by mutual TLS, one for each address, made again when our certificate or the CA changes.
import { createAgentClient } from "../proto/credentials.ts";
import type { AgentServiceClient } from "../proto/gen/xpdb/v1/agent.ts";
import type { Certificates } from "./certificates.ts";

export interface PeerClientsOptions {
	readonly certificates: Pick<Certificates, "current" | "onChange">;
	/** The name that every agent's certificate must have. */
	readonly serverName: string;
}

export class PeerClients {
	readonly #options: PeerClientsOptions;
	readonly #clients = new Map<string, AgentServiceClient>();
	readonly #stopListening: () => void;

	constructor(options: PeerClientsOptions) {
		this.#options = options;
		// Calls under way go on over the old connections.
		this.#stopListening = options.certificates.onChange(() => this.#closeAll());
	}

	/** The client for HOST:PORT. Ask for it anew for each call. */
	get(address: string): AgentServiceClient {
		const known = this.#clients.get(address);
		if (known) return known;
		const { certificate, privateKey, ca } = this.#options.certificates.current;
		const client = createAgentClient({
			address,
			serverName: this.#options.serverName,
			ca,
			identity: { kind: "certificate", certificate, privateKey },
		});
		this.#clients.set(address, client);
		return client;
	}

	/** Closes the connections to addresses that nobody needs any more. */
	keep(addresses: ReadonlySet<string>): void {
		for (const [address, client] of this.#clients) {
			if (addresses.has(address)) continue;
			client.close();
			this.#clients.delete(address);
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
