// Whom TLS believes where a kubeconfig names no authority of its own: those that the machine has, as kubectl does, and Node's own list with
// NODE_EXTRA_CA_CERTS.
//
// The executable starts without any (--use-openssl-ca in scripts/executable/build-executable.ts): Node reads its list in a thread of its own, 15
// to 30 ms of a processor that each call would wait for before it ends, and nearly every kubeconfig has an authority of its own.
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const sources = ["system", "bundled", "extra"] as const;
let isTrusted = false;

/** From now on, in the whole process. Whoever says which authority is meant is not concerned. */
export function trustPublicAuthorities(): void {
	if (isTrusted) return;
	isTrusted = true;
	setDefaultCACertificates([...new Set(sources.flatMap((source) => getCACertificates(source)))]);
}
