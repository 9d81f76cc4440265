import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { findSilence } from "../../proto/silence.ts";

const late = "Deadline exceeded after 5.003s,name resolution: 0.001s,metadata filters: 0.002s,";
const none = "No connection established. Last error:";

describe("findSilence()", () => {
	const rows = [
		{
			name: "a certificate that expired since the connection was made is told as one that a new connection meets",
			failed: {
				code: status.UNAVAILABLE,
				details: "Getting metadata from plugin failed with error: certificate has expired at Nov 23 20:00:00 2026 GMT",
			},
			expected: { why: "no connection: certificate has expired at Nov 23 20:00:00 2026 GMT", silent: "unknown" },
		},
		{
			name: "an agent that says nothing over a connection that stands may hang, or the network may",
			failed: { code: status.DEADLINE_EXCEEDED, details: `${late}LB pick: 0.001s,remote_addr=10.0.0.1:8444` },
			expected: { why: "none came within 5 s", silent: "unknown" },
		},
		{
			name: "a deadline that somebody else found says no time",
			failed: { code: status.DEADLINE_EXCEEDED, details: "Deadline exceeded" },
			expected: { why: "none came in time", silent: "unknown" },
		},
		{
			name: "a connection that does not come about leaves both open",
			failed: { code: status.DEADLINE_EXCEEDED, details: `${late}Waiting for LB pick` },
			expected: { why: "no connection within 5 s", silent: "unknown" },
		},
		{
			name: "a connection that ends in the middle of a call says not why",
			failed: { code: status.UNAVAILABLE, details: "Connection dropped" },
			expected: { why: "the connection was dropped before one came", silent: "unknown" },
		},
		{
			name: "where nobody listens the network works",
			failed: { code: status.UNAVAILABLE, details: `${none} connect ECONNREFUSED 10.0.0.1:8444` },
			expected: { why: "no connection: connect ECONNREFUSED 10.0.0.1:8444", silent: "unknown" },
		},
		{
			name: "a host that nothing leads to is the network's matter",
			failed: { code: status.UNAVAILABLE, details: `${none} connect EHOSTUNREACH 10.0.0.1:8444` },
			expected: { why: "no connection: connect EHOSTUNREACH 10.0.0.1:8444", silent: "network" },
		},
		{
			name: "and so is a connection that is reset before it stands",
			failed: { code: status.UNAVAILABLE, details: `${none} Error: read ECONNRESET` },
			expected: { why: "no connection: read ECONNRESET", silent: "network" },
		},
	];
	for (const { name, failed, expected } of rows)
		test(name, () => expect(findSilence(failed, undefined)).toEqual(expected));

	test("says from where an agent asked", () => {
		expect(findSilence({ code: status.UNAVAILABLE, details: `${none} read ECONNRESET` }, "eu")?.why).toBe(
			'no connection from cluster "eu": read ECONNRESET',
		);
		expect(findSilence({ code: status.DEADLINE_EXCEEDED, details: late }, "eu")?.why).toBe(
			'none came over the connection from cluster "eu" within 5 s',
		);
	});

	test("leaves to others what somebody answered", () => {
		for (const code of [status.UNAVAILABLE, status.INTERNAL, status.RESOURCE_EXHAUSTED]) {
			expect(findSilence({ code, details: "why" }, undefined)).toBeUndefined();
		}
	});
});
