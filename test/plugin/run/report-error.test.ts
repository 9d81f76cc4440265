import { describe, expect, test } from "vitest";
import { ConnectionError, SilentServerError } from "../../../plugin/kubernetes/api-error.ts";
import { describeError } from "../../../plugin/run/report-error.ts";

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const late = new SilentServerError("no connection within 10s");
const server = "https://ap.example:6443";

describe("describeError()", () => {
	const rows = [
		{
			name: "a single server that refuses, as kubectl has it",
			error: new ConnectionError(server, refused),
			code: 1,
			line: "The connection to the server ap.example:6443 was refused - did you specify the right host or port?",
		},
		{
			name: "a single server that does not answer in time",
			error: new ConnectionError(server, late),
			code: 4,
			line: "Unable to connect to the server: no connection within 10s",
		},
		{
			name: "one of several that refuses, with its context",
			error: new ConnectionError(server, refused).inContext("ap"),
			code: 4,
			line: 'The connection to the server ap.example:6443 of context "ap" was refused - did you specify the right host or port?',
		},
		{
			name: "one of several that does not answer in time, with its context",
			error: new ConnectionError(server, late).inContext("ap"),
			code: 4,
			line: 'Unable to connect to the server of context "ap": no connection within 10s',
		},
	];
	for (const { name, error, code, line } of rows) {
		test(name, () => expect(describeError(error, [])).toEqual({ lines: [line], code }));
	}
});
