import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKeptNote } from "../../../plugin/kubernetes/kept-note.ts";

describe("createKeptNote()", () => {
	let home: string;
	beforeEach(() => {
		home = mkdtempSync(join(tmpdir(), "xpdb-note-"));
	});
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	const folder = (): string => join(home, "cache", "kubectl-xpdb");
	const server = "https://api.example.com:6443/../../etc";

	test("reads what was written last, in a folder that it makes and in a file for its owner alone", () => {
		const note = createKeptNote(folder(), [server, "agent"]);
		expect(note.read()).toBeUndefined();
		for (const value of [{ name: "a" }, { name: "b" }]) {
			note.write(value);
			expect(createKeptNote(folder(), [server, "agent"]).read()).toEqual(value);
		}
		const [file = "", ...more] = readdirSync(folder());
		expect(more).toEqual([]);
		expect(file).toMatch(/^[0-9a-f]{32}\.json$/);
		expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
	});

	test("is one for each server and each thing", () => {
		const abouts = [[server, "agent"], [server, "other"], ["https://b", "agent"], [`${server}agent`]];
		for (const about of abouts) createKeptNote(folder(), about).write(about);
		expect(abouts.map((about) => createKeptNote(folder(), about).read())).toEqual(abouts);
	});

	// Windows has no file modes, and no named pipes in folders.
	test.skipIf(process.platform === "win32")("is as good as none where others may write it, and never waits", () => {
		const note = createKeptNote(folder(), [server]);
		note.write("x");
		const [name = ""] = readdirSync(folder());
		const file = join(folder(), name);
		chmodSync(file, 0o666);
		expect(note.read()).toBeUndefined();
		renameSync(file, join(home, "elsewhere"));
		chmodSync(join(home, "elsewhere"), 0o600);
		symlinkSync(join(home, "elsewhere"), file);
		expect(note.read()).toBeUndefined();
		rmSync(file);
		execFileSync("mkfifo", [file]);
		expect(note.read()).toBeUndefined();
		note.write("y");
		expect(note.read()).toBe("y");
	});

	test("is as good as none where it is damaged, or where nothing can be kept", () => {
		const note = createKeptNote(folder(), [server]);
		note.write("x");
		const [file = ""] = readdirSync(folder());
		writeFileSync(join(folder(), file), '{"name": "a');
		expect(note.read()).toBeUndefined();
		for (const nowhere of [undefined, "/proc/nowhere", join(folder(), file)]) {
			const none = createKeptNote(nowhere, [server]);
			none.write("x");
			expect(none.read()).toBeUndefined();
		}
	});
});
