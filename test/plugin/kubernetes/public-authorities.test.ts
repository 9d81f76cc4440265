import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** By what is in the certificates: Node writes them anew. */
const program = `
import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";
import { trustPublicAuthorities } from "./plugin/kubernetes/public-authorities.ts";
const prints = (source) => getCACertificates(source).map((each) => new X509Certificate(each).fingerprint256);
const before = prints("default");
trustPublicAuthorities();
trustPublicAuthorities();
const [trusted, bundled] = [new Set(prints("default")), prints("bundled")];
console.log(before.length, bundled.length > 100, bundled.every((each) => trusted.has(each)));
`;

test("trustPublicAuthorities() has Node believe its own list, where it was started without one", () => {
	const args = ["--use-openssl-ca", "--input-type=module", "--eval", program];
	expect(execFileSync(process.execPath, args, { env: {}, encoding: "utf8" })).toBe("0 true true\n");
});
