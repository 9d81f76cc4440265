// Checks that a text contains certificates or a private key in PEM, by Go's rules (encoding/pem, crypto/x509). Node treats a file without a
// readable authority as an empty list, and then reports "self-signed certificate".
import { X509Certificate } from "node:crypto";

/** Undefined if at least one certificate is readable. */
export function certificateProblem(text: string): string | undefined {
	const blocks = [...text.matchAll(certificateBlocks)].map(([, content = ""]) => content);
	if (blocks.length > 0) {
		return blocks.some(isCertificate) ? undefined : "its certificate cannot be read";
	}
	return missingBlock(text, "CERTIFICATE");
}

/** Undefined if the text looks like a private key. */
export function privateKeyProblem(text: string): string | undefined {
	return /^-----BEGIN [A-Z ]*PRIVATE KEY-----[ \t]*$/m.test(text) ? undefined : missingBlock(text, "PRIVATE KEY");
}

const certificateBlocks = /^-----BEGIN CERTIFICATE-----[ \t]*\r?\n([^-]*?)^-----END CERTIFICATE-----[ \t\r]*$/gm;

function isCertificate(content: string): boolean {
	try {
		return new X509Certificate(Buffer.from(content, "base64")).raw.length > 0;
	} catch {
		return false;
	}
}

function missingBlock(text: string, kind: string): string {
	const lines = text.split("\n");
	const index = lines.findIndex((line) => line.includes("-----BEGIN ") && !line.startsWith("-----BEGIN "));
	if (index !== -1) return `in line ${index + 1}, "-----BEGIN" is not at the start of the line`;
	const begin = `"-----BEGIN ${kind}-----"`;
	return text.includes("-----BEGIN ") ? `no ${begin} has its end` : `it has no ${begin}`;
}
