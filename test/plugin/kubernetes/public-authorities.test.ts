import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, test } from "vitest";

/** Compares fingerprints, because Node writes certificates in another format. */
const beginning = `
import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";
import { trustNamedAuthorities, trustPublicAuthorities } from "./plugin/kubernetes/public-authorities.ts";
const prints = (source) => getCACertificates(source).map((each) => new X509Certificate(each).fingerprint256);
`;

function runProgram(program: string, env: Readonly<Record<string, string>> = {}): string {
	const args = ["--use-openssl-ca", "--input-type=module", "--eval", beginning + program];
	return execFileSync(process.execPath, args, { env, encoding: "utf8" });
}

test("trustPublicAuthorities() has Node believe its own list, where it was started without one", () => {
	const program = `
const before = prints("default");
trustPublicAuthorities();
trustPublicAuthorities();
const [trusted, bundled] = [new Set(prints("default")), prints("bundled")];
console.log(before.length, bundled.length > 100, bundled.every((each) => trusted.has(each)));
`;
	expect(runProgram(program)).toBe("0 true true\n");
});

test("trustNamedAuthorities() has Node believe nobody, whatever the environment names, until the public ones are trusted", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-authorities-"));
	const file = join(folder, "company.crt");
	writeFileSync(file, rootCertificates.slice(0, 2).join("\n"));
	const program = `
trustNamedAuthorities();
const before = prints("default").length;
trustPublicAuthorities();
trustNamedAuthorities();
console.log(before, prints("extra").length, prints("default").length > 100);
`;
	try {
		expect(runProgram(program, { SSL_CERT_FILE: file, NODE_EXTRA_CA_CERTS: file })).toBe("0 2 true\n");
	} finally {
		rmSync(folder, { recursive: true });
	}
});
