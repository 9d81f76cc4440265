import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A certificate and its private key, in PEM. */
export type KeyPair = { readonly certificate: string; readonly key: string };

export function writeKeyPair(folder: string, name: string, pair: KeyPair): void {
	writeFileSync(join(folder, `${name}.crt`), pair.certificate);
	writeFileSync(join(folder, `${name}.key`), pair.key, { mode: 0o600 });
}
