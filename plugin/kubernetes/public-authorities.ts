// Whom TLS believes where a kubeconfig names no authority of its own: those that the machine has, as kubectl does, and Node's own list with
// NODE_EXTRA_CA_CERTS.
//
// The executable starts without any (--use-openssl-ca in scripts/executable/build-executable.ts): Node reads its list in a thread of its own, 15
// to 30 ms of a processor that each call would wait for before it ends, and nearly every kubeconfig has an authority of its own.
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const sources = ["system", "bundled", "extra"] as const;
let trusted: "whoever Node trusts" | "named" | "public" = "whoever Node trusts";

/**
 * From now on, in the whole process, nobody but those whom a caller names; where the public authorities are trusted already, they are still.
 * Node begins each list with its own one, even where a caller's takes its place: with SSL_CERT_FILE or NODE_EXTRA_CA_CERTS, as company machines
 * have them, that is 10 to 28 ms of a processor for nothing.
 */
export function trustNamedAuthorities(): void {
	if (trusted !== "whoever Node trusts") return;
	trusted = "named";
	setDefaultCACertificates([]);
}

/** From now on, in the whole process. Whoever says which authority is meant is not concerned. */
export function trustPublicAuthorities(): void {
	if (trusted === "public") return;
	trusted = "public";
	setDefaultCACertificates([...new Set(sources.flatMap((source) => getCACertificates(source)))]);
}
