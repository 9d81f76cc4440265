import { describe, expect, test } from "vitest";
import { findSharedHooks } from "./shared-hooks.ts";

describe("findSharedHooks()", () => {
	test.each([
		{ name: "a call", text: "afterEach(() => undefined);" },
		{ name: "a call of a namespace's", text: "vitest.beforeAll(async () => undefined);" },
		{ name: "a call under a condition", text: "if (process.env.CI) afterAll(() => undefined);" },
		{ name: "a call in a class that is being loaded", text: "class A { static { beforeEach(() => undefined); } }" },
	])("finds $name", ({ text }) => {
		expect(findSharedHooks("test/a.ts", `import "vitest";\n${text}`)).toEqual([
			expect.stringMatching(/^test\/a\.ts:2 calls (before|after)(Each|All)\(\) /),
		]);
	});

	test.each([
		{ name: "a function that a test file calls", text: "export function a() { afterEach(() => undefined); }" },
		{ name: "an arrow function", text: "export const a = () => afterAll(() => undefined);" },
		{ name: "a method", text: "class A { open() { beforeEach(() => undefined); } }" },
		{ name: "what only has the name", text: "const afterEach = 1; export { afterEach };" },
	])("leaves $name alone", ({ text }) => {
		expect(findSharedHooks("test/a.ts", text)).toEqual([]);
	});
});
