import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeBlob } from "../../scripts/executable/build-executable.ts";
import { partNames } from "../../scripts/executable/start-program.ts";

describe("writeBlob()", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-blob-"));
	afterAll(() => rmSync(folder, { recursive: true }));

	test("writes the same bytes of the same parts, wherever they lie, and names no folder of this machine", async () => {
		const [first, second] = ["first", "another"].map((name) => mkdtempSync(join(folder, `${name}-`))) as [
			string,
			string,
		];
		for (const name of [...partNames, "loader"]) writeFileSync(join(first, `${name}.js`), `"${name}";`);
		writeFileSync(join(first, "plugin.code"), "compiled");
		cpSync(first, second, { recursive: true });
		const blobs: Buffer[] = [];
		for (const parts of [first, second]) {
			blobs.push(readFileSync(await writeBlob({ parts, maker: process.execPath, withCode: true })));
		}
		const [one, other] = blobs;
		expect(one?.includes("compiled")).toBe(true);
		expect(one?.includes(folder)).toBe(false);
		expect(other && one?.equals(other)).toBe(true);
	});
});
