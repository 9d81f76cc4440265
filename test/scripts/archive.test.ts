import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeArchive } from "../../scripts/package/archive.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("writeArchive() makes the same bytes of the same files, with nothing in them of the machine", async () => {
	writeFileSync(join(folder, "kubectl-xpdb"), "program", { mode: 0o755 });
	writeFileSync(join(folder, "LICENSE"), "licence", { mode: 0o644 });
	const write = (name: string) =>
		writeArchive({ folder, files: ["kubectl-xpdb", "LICENSE"], modified: 1_700_000_000, output: join(folder, name) });
	const first = await write("first.tar.gz");
	utimesSync(join(folder, "LICENSE"), 1, 1);
	expect(await write("second.tar.gz")).toBe(first);
	expect(
		createHash("sha256")
			.update(readFileSync(join(folder, "first.tar.gz")))
			.digest("hex"),
	).toBe(first);
	const listed = execFileSync("tar", ["tvzf", join(folder, "first.tar.gz")], { encoding: "utf8", env: { TZ: "UTC" } });
	expect(listed.trim().split("\n")).toEqual([
		expect.stringMatching(/^-rwxr-xr-x 0\/0 +7 2023-11-14 22:13 kubectl-xpdb$/),
		expect.stringMatching(/^-rw-r--r-- 0\/0 +7 2023-11-14 22:13 LICENSE$/),
	]);
});
