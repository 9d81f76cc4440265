// A target for bytes at the plain HTTP port: all of them at once, and the beginning up to any byte.
import fc from "fast-check";
import { longestHead, readHttpRequest } from "../../../agent/process/http-request.ts";
import { demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { editedText } from "../text-edits.ts";

const requests = [
	"GET /metrics HTTP/1.1\r\nhost: 10.0.0.1:8080\r\naccept: text/plain\r\n\r\n",
	"GET /readyz HTTP/1.1\r\n\r\n",
	"HEAD /healthz?verbose HTTP/1.0\r\nconnection: keep-alive\r\n\r\n",
	"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc",
];

export const httpRequestTarget: FuzzTarget = {
	name: "http-request",
	reads: "requests at the port of probes and metrics",
	share: 0.5,
	open: () =>
		syncTarget(
			fc.tuple(
				fc.oneof(
					{ weight: 3, arbitrary: editedText(requests) },
					{ weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
				),
				fc.integer({ min: 0, max: 200 }),
			),
			([text, cut]) => {
				const bytes = Buffer.from(text, "latin1");
				const read = readHttpRequest(bytes);
				const begun = readHttpRequest(bytes.subarray(0, cut));
				demand(
					begun.kind === "incomplete" || begun.kind === read.kind,
					`what is ${begun.kind} after ${cut} bytes is ${read.kind} after all of them`,
				);
				if (read.kind !== "request") return;
				demand(bytes.indexOf("\r\n\r\n") < longestHead, "a head has its end");
				demand(bytes.toString("latin1").startsWith(`${read.method} ${read.path}`), "what is asked for was sent");
				demand(/^\/[\x21-\x7e]*$/.test(read.path) && !read.path.includes("?"), "a path is printable");
				demand(/^[^\r\n]* HTTP\/1\.[01]\r\n/.test(bytes.toString("latin1")), "it is HTTP/1");
			},
		),
};
