import { describe, expect, test } from "vitest";
import type { HealthyHistory } from "../../../plugin/fleet/healthy-history.ts";
import { asciiGlyphs, unicodeGlyphs } from "../../../plugin/ui/glyphs.ts";
import { historyLines } from "../../../plugin/ui/history-lines.ts";
import { lineText } from "../../../plugin/ui/styled-line.ts";

const lastAt = new Date("2026-01-01T12:30:00").getTime() / 1_000;
const past = (...healthy: readonly (number | undefined)[]): HealthyHistory => ({ lastAt, everySeconds: 60, healthy });
const bounds = { need: 16, expected: 18 };

function lines(
	history: HealthyHistory,
	more: { need?: number | undefined; columns?: number; ascii?: boolean; later?: number } = {},
) {
	const { columns = 80, ascii = false, later = 0 } = more;
	const options = { columns, glyphs: ascii ? asciiGlyphs : unicodeGlyphs, now: (lastAt + later) * 1_000 };
	const drawn = historyLines(history, "need" in more ? { ...bounds, need: more.need } : bounds, options);
	return drawn.map((line) => lineText(line).trim());
}

describe("historyLines()", () => {
	test("draws from what is needed up to what is expected, and marks what is less than needed", () => {
		expect(lines(past(18, 17, 16, 15, 16, 18))).toEqual([
			"LAST 6 MIN    █▄▁!▁█",
			"15 to 18 healthy; ! under 16 needed now, last 12:28",
		]);
	});

	test("draws the same in ASCII", () => {
		expect(lines(past(18, 17, 16, 15, undefined, 18), { ascii: true })[0]).toBe("LAST 6 MIN    #=_!?#");
	});

	test("says what is not known, and fills nothing in", () => {
		expect(lines(past(18, undefined, 18))).toEqual(["LAST 3 MIN    █?█", "18 healthy; ? unknown"]);
	});

	test("says since when nothing is known", () => {
		expect(lines(past(18), { later: 600 })[1]).toBe("18 healthy; nothing known since 12:30");
		expect(lines(past(18), { later: 100 })[1]).toBe("18 healthy");
	});

	test("shows as many of the last looks as there is room for", () => {
		const hour = past(...Array.from({ length: 60 }, (_, at) => (at < 30 ? 10 : 18)));
		expect(lines(hour, { columns: 40 })).toEqual([`LAST 24 MIN   ${"█".repeat(24)}`, "18 healthy"]);
	});

	test("is drawn from zero where nothing is needed: suspended, or not known", () => {
		expect(lines(past(0, 9, 18), { need: undefined })).toEqual(["LAST 3 MIN    ▁▄█", "0 to 18 healthy"]);
	});

	test("is flat where all are needed", () => {
		expect(lines(past(18, 17), { need: 18 })[0]).toBe("LAST 2 MIN    ▁!");
	});
});
