import { expect, test } from "vitest";
import { nodeVersionOf } from "../../scripts/executable/node-version.ts";

const binary = (...texts: readonly string[]): Buffer => Buffer.from(`\0${texts.join("\0")}\0`, "latin1");

test("nodeVersionOf() reads the version that the headers of a binary are of", () => {
	const headers = "https://nodejs.org/download/release/v24.21.0/node-v24.21.0-headers.tar.gz";
	expect(nodeVersionOf(binary("/node-v1", headers))).toBe("24.21.0");
});

test("nodeVersionOf() takes nothing else for one", () => {
	for (const other of ["", "v24.21.0", "-headers.tar.gz", "/node-v24-headers.tar.gz"]) {
		expect(() => nodeVersionOf(binary(other)), other).toThrow("Cannot find in the binary which version of Node it is");
	}
});
