import { execFileSync } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openPictureFile } from "../../../plugin/run/picture-file.ts";
import { suggestDefault } from "../../support/suggest-default.ts";
import { eventSamples } from "../output/event-samples.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-picture-"));
afterAll(() => rmSync(folder, { recursive: true }));
const options = {
	command: "drain",
	op: "7f3c2a",
	commandLine: "kubectl xpdb drain n1",
	by: "alice@laptop",
	suggest: suggestDefault,
	now: () => 0,
	wallClock: () => Date.parse("2026-01-01T00:00:00Z"),
} as const;

test("the page is there when the run is over, and nothing beside it", () => {
	const path = join(folder, "run.html");
	const picture = openPictureFile(path, options);
	for (const event of [...eventSamples["run.started"], ...eventSamples["pod.accepted"], ...eventSamples.summary]) {
		picture.see(event);
	}
	picture.write();
	expect(readFileSync(path, "utf8")).toContain("<pre>kubectl xpdb drain n1</pre>");
	expect(readdirSync(folder)).toEqual(["run.html"]);
});

test("a page from before stays as it was until the new one is whole", () => {
	const path = join(folder, "run.html");
	writeFileSync(path, "before");
	const picture = openPictureFile(path, options);
	expect(readFileSync(path, "utf8")).toBe("before");
	picture.discard();
	expect(readFileSync(path, "utf8")).toBe("before");
	expect(readdirSync(folder)).toEqual(["run.html"]);
});

// Windows has neither devices nor pipes as files.
test.skipIf(process.platform === "win32")("a device and a pipe are refused, and stay what they are", () => {
	const pipe = join(folder, "pipe");
	execFileSync("mkfifo", [pipe]);
	const link = join(folder, "link");
	symlinkSync("/dev/null", link);
	for (const path of [pipe, "/dev/null", link]) {
		expect(() => openPictureFile(path, options)).toThrow(`"${path}": it is a device, a pipe or a socket`);
	}
	expect([lstatSync(pipe).isFIFO(), lstatSync(link).isSymbolicLink()]).toEqual([true, true]);
	for (const path of [pipe, link]) rmSync(path);
});

test("a link stays a link, and the page is where it leads", () => {
	const [path, link] = [join(folder, "run.html"), join(folder, "link.html")];
	symlinkSync(path, link);
	const picture = openPictureFile(link, options);
	for (const event of [...eventSamples["run.started"], ...eventSamples.summary]) picture.see(event);
	picture.write();
	expect([lstatSync(link).isSymbolicLink(), readFileSync(path, "utf8").includes("<pre>")]).toEqual([true, true]);
	rmSync(link);
});

test("where no page can be written, nothing is begun", () => {
	const open = (path: string) => () => openPictureFile(path, options);
	expect(open(join(folder, "missing", "run.html"))).toThrow(
		`run.html": directory ${join(folder, "missing")} does not exist`,
	);
	expect(open(folder)).toThrow(`cannot write the report to "${folder}": it is a directory`);
	expect(readdirSync(folder)).toEqual(["run.html"]);
});
