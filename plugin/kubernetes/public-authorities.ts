// Sets the authorities that TLS trusts if a kubeconfig names none: those of the machine, as with kubectl, and Node's own list with
// NODE_EXTRA_CA_CERTS.
//
// The executable starts without authorities (--use-openssl-ca in scripts/executable/build-executable.ts). Reading Node's list would take 15
// to 30 ms of CPU per call, and nearly every kubeconfig has its own authority.
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const sources = ["system", "bundled", "extra"] as const;
let trusted: "default" | "named" | "public" = "default";

/**
 * Makes the process trust only authorities that a caller names, unless the public ones are already trusted. Without this call, Node would
 * build its own list, which takes 10 to 28 ms of CPU with SSL_CERT_FILE or NODE_EXTRA_CA_CERTS.
 */
export function trustNamedAuthorities(): void {
	if (trusted !== "default") return;
	trusted = "named";
	setDefaultCACertificates([]);
}

/** Makes the process trust the public authorities too. Callers that name their own authority are not affected. */
export function trustPublicAuthorities(): void {
	if (trusted === "public") return;
	trusted = "public";
	setDefaultCACertificates([...new Set(sources.flatMap((source) => getCACertificates(source)))]);
}
