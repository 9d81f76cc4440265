// How one agent meets a peer: with which certificate, and whether it lets in who shows this one. By its own address, because behind
// that of its cluster there are two.
import { connect } from "node:tls";
import type { KeyPair } from "../../../demo/machine/key-pairs.ts";
import { agentServerName } from "../../../proto/credentials.ts";
import { peerPort } from "../../controlplane/links.ts";

export interface Meeting {
	/** The SHA-256 fingerprint of the certificate that it shows. */
	readonly shown: string;
	/** Whoever is let in is greeted, in HTTP/2; who is not hears nothing. */
	readonly letIn: boolean;
}

const longestMs = 5_000;

/** Undefined where there is no answer: the agent is not there, or late. */
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
			// Whatever it shows is wanted here.
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
