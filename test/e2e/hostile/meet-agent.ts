// Meets one agent as a peer: tells which certificate it shows, and whether it admits the caller's certificate. It dials the agent's own
// address, because there are two agents behind that of its cluster.
import { connect } from "node:tls";
import type { KeyPair } from "../../../demo/machine/key-pairs.ts";
import { agentServerName } from "../../../proto/credentials.ts";
import { peerPort } from "../../controlplane/links.ts";

export interface Meeting {
	/** The SHA-256 fingerprint of the agent's certificate. */
	readonly shown: string;
	/** Whether the agent admits the caller. An admitted caller gets an HTTP/2 greeting, and any other gets nothing. */
	readonly letIn: boolean;
}

const longestMs = 5_000;

/** Undefined if the agent does not answer in time. */
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
			// Any certificate is acceptable here.
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
