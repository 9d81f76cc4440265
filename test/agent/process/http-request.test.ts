import { describe, expect, test } from "vitest";
import { longestHead, readHttpRequest } from "../../../agent/process/http-request.ts";

const rows: readonly { readonly name: string; readonly text: string; readonly expected: object }[] = [
	{
		name: "what is asked for, without the query",
		text: "GET /readyz?verbose=1 HTTP/1.1\r\nhost: x\r\n\r\n",
		expected: { kind: "request", method: "GET", path: "/readyz" },
	},
	{
		name: "the first of many",
		text: "HEAD / HTTP/1.0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n",
		expected: { kind: "request", method: "HEAD", path: "/" },
	},
	{ name: "nothing yet", text: "", expected: { kind: "incomplete" } },
	{ name: "a part of a method", text: "GE", expected: { kind: "incomplete" } },
	{ name: "headers without an end", text: "GET / HTTP/1.1\r\nhost: x\r\n", expected: { kind: "incomplete" } },
	{ name: "what begins as TLS does", text: "\x16\x03\x01", expected: { kind: "garbled" } },
	{ name: "HTTP/2", text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", expected: { kind: "garbled" } },
	{ name: "no version", text: "GET /\r\n\r\n", expected: { kind: "garbled" } },
	{ name: "an address in the place of a path", text: "GET http://x/ HTTP/1.1\r\n\r\n", expected: { kind: "garbled" } },
	{ name: "control characters in the path", text: "GET /\x00 HTTP/1.1\r\n\r\n", expected: { kind: "garbled" } },
];

describe("readHttpRequest()", () => {
	for (const { name, text, expected } of rows) {
		test(`reads ${name}`, () => {
			expect(readHttpRequest(Buffer.from(text, "latin1"))).toEqual(expected);
		});
	}

	test("looks at no more than the longest head", () => {
		const path = `/${"a".repeat(longestHead)}`;
		expect(readHttpRequest(Buffer.from(`GET ${path}\r\n\r\n`))).toEqual({ kind: "tooLong" });
	});
});
