import { describe, expect, test } from "vitest";
import { readSpecText } from "../../proto/spec-text.ts";

const text = (app: string) =>
	JSON.stringify({ maxUnavailable: 1, selector: { matchLabels: { app }, list: [{ app }] } });

describe("readSpecText()", () => {
	test("gives what the text says, the same for the same text", () => {
		expect(readSpecText(text("db"))).toEqual(JSON.parse(text("db")));
		expect(readSpecText(text("db"))).toBe(readSpecText(text("db")));
		expect(readSpecText(text("web"))).toEqual(JSON.parse(text("web")));
		for (const plain of ["null", "7", '"all"', "[]", "{}"]) expect(readSpecText(plain)).toEqual(JSON.parse(plain));
	});

	test("gives what nobody can change, however deep in it", () => {
		const spec = readSpecText(text("db")) as { selector: { matchLabels: { app: string }; list: { app: string }[] } };
		expect(() => {
			spec.selector.matchLabels.app = "web";
		}).toThrow(TypeError);
		expect(() => {
			const [first] = spec.selector.list;
			if (first) first.app = "web";
		}).toThrow(TypeError);
		expect(() => spec.selector.list.push({ app: "web" })).toThrow(TypeError);
		expect(readSpecText(text("db"))).toEqual(JSON.parse(text("db")));
	});

	test("refuses what is not JSON each time, and takes no name for a prototype", () => {
		for (let times = 0; times < 2; times += 1) expect(() => readSpecText("{")).toThrow(SyntaxError);
		const spec = readSpecText('{"__proto__": {"selector": {}}}');
		expect(Object.keys(spec as object)).toEqual(["__proto__"]);
		expect("selector" in (spec as object)).toBe(false);
	});

	test("goes on when there are more than it keeps", () => {
		for (let app = 0; app < 10_000; app += 1)
			expect(readSpecText(text(`a${app}`))).toEqual(JSON.parse(text(`a${app}`)));
		expect(readSpecText(text("a0"))).toEqual(JSON.parse(text("a0")));
	});
});
