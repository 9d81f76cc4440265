import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isGenerated, isSourceFile, listFiles, readSource } from "../architecture/source-files.ts";
import { judgeDrivenRooms, readDrivenRooms } from "./driven-rooms.ts";

const program = fileURLToPath(new URL("./entered-files.ts", import.meta.url));
const heading = "| Room | The exploration drives | What covers the rest |\n| --- | --- | --- |\n";
const long = "export function f() {}\n".repeat(31);

describe("judgeDrivenRooms()", () => {
	const sources = ["agent/server/a.ts", "agent/server/b.ts", "agent/main.ts"].map((path) => ({ path, text: long }));

	function problemsOf(rows: string, ...entered: readonly string[]): readonly string[] {
		return judgeDrivenRooms(readDrivenRooms(heading + rows), { sources, entered: new Set(entered) });
	}

	const main = "| `agent/` | nothing | tests |\n";

	test("finds nothing where the table is right", () => {
		expect(problemsOf(`${main}| \`agent/server/\` | \`a.ts\` | tests |\n`, "agent/server/a.ts")).toEqual([]);
		expect(problemsOf(`${main}| \`agent/server/\` | all but \`b.ts\` | tests |\n`, "agent/server/a.ts")).toEqual([]);
	});

	test("finds a file that the table calls driven and no schedule enters, and the other way round", () => {
		expect(problemsOf(`${main}| \`agent/server/\` | all | tests |\n`, "agent/main.ts", "agent/server/b.ts")).toEqual([
			"agent/server/a.ts: the table calls it driven, and no schedule enters it",
			"agent/main.ts: schedules enter it, and the table calls it not driven",
		]);
	});

	test("finds rooms and files that are not in the table, or not there", () => {
		expect(problemsOf("| `agent/server/` | `c.ts` | tests |\n| `agent/views/` | all | tests |\n")).toEqual([
			"agent/ is not in the table",
			"agent/views/ is in the table and not there",
			"agent/server/c.ts is not there",
		]);
	});

	test("does not judge files of up to 30 lines, nor those without a function", () => {
		const unjudged = [
			{ path: "agent/short.ts", text: "export function f() {}\n".repeat(30) },
			{ path: "agent/types.ts", text: "export interface A {}\n".repeat(40) },
		];
		const rooms = readDrivenRooms(`${heading}| \`agent/\` | all | tests |\n`);
		const sources = [...unjudged, { path: "agent/long.ts", text: long }];
		expect(judgeDrivenRooms(rooms, { sources, entered: new Set() })).toEqual([
			"agent/long.ts: the table calls it driven, and no schedule enters it",
		]);
	});
});

// This takes seconds, but minutes on an overloaded machine.
test("docs/design.md says truthfully what the exploration drives", { timeout: 300_000 }, () => {
	const entered = JSON.parse(execFileSync(process.execPath, [program], { encoding: "utf8" })) as readonly string[];
	const sources = listFiles()
		.filter((path) => /^(disruption|agent|plugin|proto)\//.test(path) && isSourceFile(path) && !isGenerated(path))
		.map((path) => ({ path, text: readSource(path) }));
	const problems = judgeDrivenRooms(readDrivenRooms(readSource("docs/design.md")), {
		sources,
		entered: new Set(entered),
	});
	expect(problems).toEqual([]);
});
