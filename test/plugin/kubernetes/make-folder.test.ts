import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolder } from "../../../plugin/kubernetes/make-folder.ts";

describe("makeFolder()", () => {
	let home = "";
	beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "xpdb-make-folder-"))));
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	test("makes all that are missing, with the mode asked for, and leaves what is there", () => {
		const folder = join(home, "a", "b", "c");
		makeFolder(folder, 0o700);
		makeFolder(folder);
		expect(["a", "a/b", "a/b/c"].map((each) => statSync(join(home, each)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
	});

	test("comes back where no folder can be made", () => {
		expect(() => makeFolder("/proc/nowhere/deep")).toThrow(/ENOENT|EACCES|EROFS|EPERM/);
		expect(existsSync("/proc/nowhere")).toBe(false);
	});

	test("throws under a file and at a link that leads nowhere", () => {
		writeFileSync(join(home, "file"), "");
		symlinkSync(join(home, "gone"), join(home, "link"));
		expect(() => makeFolder(join(home, "file", "a"))).toThrow("ENOTDIR");
		expect(() => makeFolder(join(home, "link"))).toThrow("EEXIST");
	});
});
