// Sets the authorities that TLS trusts if a kubeconfig names none: those of the machine, as with kubectl, and Node's own list with
// NODE_EXTRA_CA_CERTS.
//
// The executable starts without any authorities (--use-openssl-ca in scripts/executable/build-executable.ts). Node would read its list in a
// separate thread, which takes 15 to 30 ms of processor time. Each call would wait for that before it ends, and nearly every kubeconfig has
// its own authority.
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const sources = ["system", "bundled", "extra"] as const;
let trusted: "default" | "named" | "public" = "default";

/**
 * From now on, the whole process trusts only authorities that a caller names. If the public authorities are already trusted, they stay
 * trusted. Without this, Node builds its own list first, even if a caller's list replaces it. With SSL_CERT_FILE or NODE_EXTRA_CA_CERTS,
 * which are common on company machines, that wastes 10 to 28 ms of processor time.
 */
export function trustNamedAuthorities(): void {
	if (trusted !== "default") return;
	trusted = "named";
	setDefaultCACertificates([]);
}

/** From now on, the whole process trusts the public authorities. Callers that name their own authority are not affected. */
export function trustPublicAuthorities(): void {
	if (trusted === "public") return;
	trusted = "public";
	setDefaultCACertificates([...new Set(sources.flatMap((source) => getCACertificates(source)))]);
}
