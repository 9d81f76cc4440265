import { expect, test } from "vitest";
import { readRecord } from "../../../plugin/picture/read-record.ts";
import { drainRecord, recordLines } from "./recorded-run.ts";

const read = (text: string) => readRecord(ReadableStream.from([Buffer.from(text)]), "run.ndjson");

const bad: readonly (readonly [name: string, text: string, message: string])[] = [
	["nothing", "", "run.ndjson holds no events"],
	["no JSON", "evicting pod\n", "run.ndjson:1 is not JSON"],
	["a list", "[]\n", "run.ndjson:1 is not an event"],
	["no time", '{"type":"version"}\n', "run.ndjson:1 has no type or no time"],
	["an event in the middle of a run", `${drainRecord[3]}\n`, "run.ndjson:1 does not begin a run"],
	["a line that is broken", `${drainRecord[0]}\nerror: no\n`, "run.ndjson:2 is not JSON"],
	[
		"a new major version",
		`${recordLines([[0, { type: "version", schema: "xpdb.events/2.0" }]]).join("\n")}\n`,
		'run.ndjson:1 follows "xpdb.events/2.0", and this version reads xpdb.events/1.0',
	],
];

test.each(bad)("%s is no record, and the error says where and why", async (_, text, message) => {
	await expect(read(text)).rejects.toMatchObject({ name: "UsageError", message });
});

test("a file that cannot be read to its end says so", async () => {
	async function* broken(): AsyncGenerator<Buffer> {
		yield Buffer.from(`${drainRecord[0]}\n`);
		throw new Error("EIO: i/o error, read");
	}
	await expect(readRecord(broken(), "run.ndjson")).rejects.toMatchObject({
		name: "UsageError",
		message: 'cannot read "run.ndjson": EIO: i/o error, read',
	});
});
