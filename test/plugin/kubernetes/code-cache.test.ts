import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findCodeFolder } from "../../../plugin/kubernetes/code-cache.ts";

// Windows has no file modes.
describe.skipIf(process.platform === "win32")("findCodeFolder()", () => {
	let home: string;
	beforeEach(() => {
		home = mkdtempSync(join(tmpdir(), "xpdb-code-"));
	});
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	const folder = (): string => join(home, ".kube", "cache", "kubectl-xpdb", "code");

	test("makes a folder that nobody else can look into", () => {
		expect(findCodeFolder({ HOME: home })).toBe(folder());
		expect(statSync(folder()).mode & 0o777).toBe(0o700);
		expect(findCodeFolder({ HOME: home })).toBe(folder());
	});

	test("takes none that others may write to, or that leads elsewhere", () => {
		findCodeFolder({ HOME: home });
		chmodSync(folder(), 0o770);
		expect(findCodeFolder({ HOME: home })).toBeUndefined();
		rmSync(folder(), { recursive: true });
		mkdirSync(join(home, "other"), 0o700);
		symlinkSync(join(home, "other"), folder());
		expect(findCodeFolder({ HOME: home })).toBeUndefined();
	});

	test.skipIf(process.getuid?.() !== 0)("takes none of another user", () => {
		findCodeFolder({ HOME: home });
		rmSync(folder(), { recursive: true });
		mkdirSync(folder(), 0o700);
		chownSync(folder(), 12_345, 12_345);
		expect(findCodeFolder({ HOME: home })).toBeUndefined();
	});
});
