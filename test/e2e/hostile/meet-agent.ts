// Connects to one agent as a peer, to learn which certificate it shows and whether it accepts the caller's. Uses the agent's own address,
// because a cluster's address leads to two agents.
import { connect } from "node:tls";
import type { KeyPair } from "../../../demo/machine/key-pairs.ts";
import { agentServerName } from "../../../proto/credentials.ts";
import { peerPort } from "../../controlplane/links.ts";

export interface Meeting {
	/** The SHA-256 fingerprint of the agent's certificate. */
	readonly shown: string;
	/** Whether the agent accepts the caller. Only an accepted caller gets HTTP/2 data. */
	readonly letIn: boolean;
}

const longestMs = 5_000;

/** Resolves to undefined if the agent shows no certificate, or does not answer in time. */
export async function meetAgent(ip: string, { certificate, key }: KeyPair): Promise<Meeting | undefined> {
	return new Promise((resolve) => {
		const socket = connect({
			host: ip,
			port: peerPort,
			cert: certificate,
			key,
			servername: agentServerName("xpdb-system"),
			ALPNProtocols: ["h2"],
			minVersion: "TLSv1.3",
			rejectUnauthorized: false,
		});
		let shown: string | undefined;
		const end = (letIn: boolean): void => {
			socket.destroy();
			resolve(shown === undefined ? undefined : { shown, letIn });
		};
		socket.setTimeout(longestMs, () => {
			socket.destroy();
			resolve(undefined);
		});
		socket.once("secureConnect", () => (shown = socket.getPeerX509Certificate()?.fingerprint256));
		socket.once("data", () => end(true));
		socket.once("error", () => end(false));
		socket.once("close", () => end(false));
	});
}
