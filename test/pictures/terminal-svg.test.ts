import { expect, test } from "vitest";
import { TerminalEmulator } from "../support/terminal-emulator.ts";
import { screenRows } from "./screen-rows.ts";
import { movingPicture, stillPicture } from "./terminal-svg.ts";

const escape = "\u001b";
const size = { columns: 20, rows: 3, title: 'a & "b"' };

function screen(...written: readonly string[]): TerminalEmulator {
	const emulator = new TerminalEmulator(20, 3);
	for (const text of written) emulator.write(text);
	return emulator;
}

test("screenRows() are runs of one look, in their places, without blanks", () => {
	const rows = screenRows(
		screen(`  ab ${escape}[33mwa${escape}[1mit${escape}[22m${escape}[39m${escape}[5Gx\r\n\r\n   `),
	);
	expect(rows).toEqual([
		[
			{ column: 2, width: 3, text: "abx", looks: "" },
			{ column: 5, width: 2, text: "wa", looks: "yellow" },
			{ column: 7, width: 2, text: "it", looks: "yellow bold" },
		],
		[],
		[],
	]);
});

test("a still has each text in its place, and texts stay texts", () => {
	const picture = stillPicture(screenRows(screen(`<b>&${escape}[2mdim`)), size);
	expect(picture).toContain(`<title>a &amp; "b"</title>`);
	expect(picture).toContain(">&lt;b&gt;&amp;</tspan>");
	expect(picture).toMatch(/<tspan x="45.6" textLength="25.2" [^>]*class="dim">dim</);
	expect(picture).not.toMatch(/https?:(?!\/\/www.w3.org)|<script|<image/);
});

test("a moving picture has rows that stay once, shows the others while they were there, and cuts pauses short", () => {
	const frames = [
		{ at: 0, rows: screenRows(screen("title\r\n1 of 2")) },
		{ at: 60_000, rows: screenRows(screen("title\r\n2 of 2")) },
	];
	const picture = movingPicture(frames, size);
	expect(picture.match(/>title</g)).toHaveLength(1);
	expect(picture).toMatch(/<g><text[^>]*><tspan[^>]*>title</);
	expect(picture).toMatch(/<g class="f0t1200"><text[^>]*><tspan[^>]*>1 of 2</);
	expect(picture).toMatch(/<g class="f1200t5200"><text[^>]*><tspan[^>]*>2 of 2</);
	expect(picture).toContain("@keyframes f0t1200{0.00%{visibility:visible}23.08%{visibility:hidden}}");
	expect(picture).toContain("@keyframes f1200t5200{0%{visibility:hidden}23.08%{visibility:visible}}");
	expect(picture).toContain("g{animation:none!important}.f0t1200{visibility:hidden}");
});
