import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { oneLine, printable } from "../../disruption/printable.ts";

describe("printable()", () => {
	const kept: readonly (readonly [name: string, text: string])[] = [
		["lines and tabs", "a\tb\nc"],
		["accents, in one character or two", "ü u\u0308 é ñ Ångström"],
		["scripts of all kinds", "数据库 データベース 데이터베이스 قاعدة בסיס ฐานข้อมูล ਡਾਟਾ"],
		["emoji, of one person or a family", "😀 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍⚕️ ❤️ 1️⃣ 🇪🇺"],
		["what it made itself", "\\u202e"],
	];
	for (const [name, text] of kept) {
		test(`keeps ${name}`, () => {
			expect(printable(text)).toBe(text);
		});
	}

	const shown: readonly (readonly [name: string, text: string, expected: string])[] = [
		["escape sequences", "\u001b[2Jgone\u009b31m\r\u0007\u007f", "\\u001b[2Jgone\\u009b31m\\u000d\\u0007\\u007f"],
		["what turns the direction", "a\u202eb\u2066c\u200fd\u061ce", "a\\u202eb\\u2066c\\u200fd\\u061ce"],
		["what has no width", "d\u200bb\u200c\u2060\ufeff\u00ad", "d\\u200bb\\u200c\\u2060\\ufeff\\u00ad"],
		["joiners that join no pictures", "d\u200db 😀\u200dx", "d\\u200db 😀\\u200dx"],
		["other ends of lines", "a\u2028b\u2029c", "a\\u2028b\\u2029c"],
		["fillers that look like nothing", "\u3164\u115f\u034f", "\\u3164\\u115f\\u034f"],
		["tags", "x\u{e0041}\u{e007f}", "x\\udb40\\udc41\\udb40\\udc7f"],
		["half characters", "a\ud800b", "a\ufffdb"],
	];
	for (const [name, text, expected] of shown) {
		test(`shows ${name} instead of sending them`, () => {
			expect(printable(text)).toBe(expected);
		});
	}

	test("changes no JSON: it reads back as what it was", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (text) => {
				const json = printable(JSON.stringify({ text }));
				expect(JSON.parse(json)).toEqual({ text });
			}),
			{ numRuns: 1_000 },
		);
	});

	test("leaves what is printable already", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (text) => {
				expect(printable(printable(text))).toBe(printable(text));
			}),
			{ numRuns: 1_000 },
		);
	});
});

test("oneLine() shows ends of lines and tabs too", () => {
	expect(oneLine("db\npod/db-0 evicted\t\u001b")).toBe("db\\u000apod/db-0 evicted\\u0009\\u001b");
});
