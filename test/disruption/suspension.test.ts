import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatSuspension, parseSuspension } from "../../disruption/budget/suspension.ts";

const whole = { by: "alice@laptop", since: "2026-01-01T00:00:00.000Z", reason: "storage migration" };
const json = (fields: object): string => JSON.stringify({ version: 1, ...whole, ...fields });

describe("parseSuspension()", () => {
	test("reads what was written", () => {
		const dates = fc.date({ noInvalidDate: true, min: new Date("1970"), max: new Date("2999") });
		const short = fc.string({ maxLength: 500 });
		const suspensions = fc.record(
			{ by: short, since: dates.map((date) => date.toISOString()), reason: short },
			{ requiredKeys: ["by", "since"] },
		);
		fc.assert(
			fc.property(suspensions, (each) => {
				expect(parseSuspension(formatSuspension(each))).toEqual(each);
			}),
		);
	});

	const rows: readonly { readonly name: string; readonly text: string }[] = [
		{ name: "no JSON", text: "alice" },
		{ name: "no object", text: '"alice"' },
		{ name: "a later version", text: json({ version: 2 }) },
		{ name: "nobody", text: json({ by: undefined }) },
		{ name: "no date", text: json({ since: "noon" }) },
		{ name: "a reason that is no text", text: json({ reason: 7 }) },
		{ name: "a text of megabytes", text: json({ by: "a".repeat(1_000_000) }) },
	];
	for (const { name, text } of rows) {
		test(`takes ${name} for none`, () => {
			expect(parseSuspension(text)).toBeUndefined();
		});
	}
});
