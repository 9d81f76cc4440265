import { describe, expect, test } from "vitest";
import { startInTerminal } from "./pseudo-terminal.ts";
import { RecentOutput } from "./recent-output.ts";

describe("RecentOutput", () => {
	test("keeps the end, and never more than twice its limit", () => {
		const output = new RecentOutput(10);
		let all = "";
		for (let i = 0; i < 1_000; i += 1) {
			output.add(`${i} `);
			all += `${i} `;
			expect(output.text.length).toBeLessThanOrEqual(20);
			expect(output.text.endsWith(all.slice(-10))).toBe(true);
		}
		output.clear();
		expect(output.text).toBe("");
	});

	test("keeps everything without a limit", () => {
		const output = new RecentOutput();
		for (let i = 0; i < 1_000; i += 1) output.add("0123456789");
		expect(output.text).toHaveLength(10_000);
	});
});

test("startInTerminal() keeps as much output as it is told", async () => {
	const seen: string[] = [];
	using terminal = startInTerminal("/bin/sh", ["-c", "seq 1 9999"], {
		keptOutput: 100,
		onData: (data) => void seen.push(data),
	});
	await terminal.ended;
	expect(seen.join("").length).toBeGreaterThan(20_000);
	expect(terminal.output().length).toBeLessThanOrEqual(200);
	expect(terminal.output()).toMatch(/9998\r\n9999\r\n$/);
});
