import { describe, expect, test } from "vitest";
import { findImpurities } from "./purity.ts";

const impure = [
	{ name: "Date.now()", text: "export const a = Date.now();" },
	{ name: "new Date()", text: "export const a = new Date();" },
	{ name: "Date under another name", text: "const Clock = Date;" },
	{ name: "Date.now by destructuring", text: "const { now } = Date;" },
	{ name: "Date.now in brackets", text: `export const a = Date["now"]();` },
	{ name: "Date with a computed member", text: "export const a = (k: string) => Date[k];" },
	{ name: "performance.now()", text: "export const a = performance.now();" },
	{ name: "Math.random()", text: "export const a = Math.random();" },
	{ name: "Math.random in brackets", text: `export const a = Math["random"]();` },
	{ name: "Math.random as a default argument", text: "export const a = (random = Math.random) => random();" },
	{ name: "Math handed on", text: "export const a = f(Math); function f(x: unknown) { return x; }" },
	{ name: "setTimeout()", text: "setTimeout(() => {}, 1);" },
	{ name: "setInterval()", text: "setInterval(() => {}, 1);" },
	{ name: "setImmediate()", text: "setImmediate(() => {});" },
	{ name: "queueMicrotask()", text: "queueMicrotask(() => {});" },
	{ name: "AbortSignal.timeout()", text: "export const a = AbortSignal.timeout(1);" },
	{ name: "process", text: "export const a = process.env;" },
	{ name: "process in a shorthand property", text: "export const a = { process };" },
	{ name: "process spread", text: "export const a = { ...process };" },
	{ name: "process in a template", text: "export const a = `${process.pid}`;" },
	{ name: "process in a cast", text: "export const a = process as unknown;" },
	{ name: "process in a decorated default", text: "export class A { b = process; }" },
	{ name: "globalThis", text: "export const a = globalThis.crypto;" },
	{ name: "global", text: "export const a = global;" },
	{ name: "crypto", text: "export const a = crypto.randomUUID();" },
	{ name: "fetch()", text: `export const a = fetch("http://127.0.0.1");` },
	{ name: "console", text: `console.log("a");` },
	{ name: "Intl", text: "export const a = new Intl.Collator();" },
	{ name: "eval()", text: `eval("1");` },
	{ name: "Function()", text: `export const a = Function("return process")();` },
	{ name: "a name that nobody declares", text: "export const a = somewhereElse;" },
	{ name: "require()", text: `export const a = require("node:fs");` },
	{ name: "import()", text: `export const a = import("node:fs");` },
	{ name: "import.meta", text: "export const a = import.meta.dirname;" },
	{ name: "localeCompare()", text: `export const a = "a".localeCompare("b");` },
	{ name: "a name of its own that would hide process", text: "export function a(process: string) { return process; }" },
	{
		name: "a destructured name that would hide performance",
		text: "export const a = ({ performance }: { performance: number }) => 1;",
	},
];

const pure = [
	{ name: "the language's own collections and numbers", text: "export const a = new Map([[1, Math.ceil(0.5)]]);" },
	{ name: "a timestamp that is only read", text: `export const a = Date.parse("2026-01-01T00:00:00Z");` },
	{ name: "signals that came in", text: "export const a = (s: AbortSignal) => AbortSignal.any([s]);" },
	{ name: "properties that are named like globals", text: "export const a = (x: { process: number }) => x.process;" },
	{ name: "keys that are named like globals", text: "export const a = { process: 1, fetch: 2 };" },
	{
		name: "types that are named like globals",
		text: "export interface A { readonly b: Buffer; process: typeof process }",
	},
	{ name: "a type in a cast", text: "export const a = (x: unknown) => x as { process: Buffer };" },
	{
		name: "its own names",
		text: "export const a = ({ b: [c], ...d }: any, ...e: any[]) => { try { c(d); } catch (f) { e.push(f); } };",
	},
	{
		name: "its own classes, labels and generators",
		text: "class A<T> { *b(): Iterable<T> { outer: for (;;) break outer; } } new A();",
	},
	{
		name: "what it imports",
		text: `import { createHash as hash } from "node:crypto";\nexport const a = hash("sha256");`,
	},
];

describe("findImpurities()", () => {
	for (const { name, text } of impure) {
		test(`finds ${name}`, () => {
			expect(findImpurities("disruption/a.ts", `\n${text}`)).toEqual(
				expect.arrayContaining([expect.stringMatching(/^disruption\/a\.ts:2 /)]),
			);
		});
	}
	for (const { name, text } of pure) {
		test(`allows ${name}`, () => {
			expect(findImpurities("disruption/a.ts", text)).toEqual([]);
		});
	}
});
