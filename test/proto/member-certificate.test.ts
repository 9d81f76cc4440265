import { describe, expect, test } from "vitest";
import { describeMember, findMemberId, memberUri } from "../../proto/member-certificate.ts";

const id = "0f0d2f60-0000-4000-8000-000000000001";

describe("findMemberId()", () => {
	const rows: { name: string; names: string | undefined; expected: string | undefined }[] = [
		{ name: "reads the one URI", names: `DNS:a.svc, URI:${memberUri(id)}, IP Address:127.0.0.1`, expected: id },
		{ name: "finds none in a certificate without names", names: undefined, expected: undefined },
		{ name: "finds none where there is none", names: "DNS:a.svc", expected: undefined },
		{ name: "takes no URI of another kind", names: `URI:spiffe://cluster/${id}`, expected: undefined },
		{ name: "takes no DNS name for a URI", names: `DNS:${memberUri(id)}`, expected: undefined },
		{
			name: "takes no name of two members",
			names: `URI:${memberUri("a")}, URI:${memberUri("b")}`,
			expected: undefined,
		},
		{ name: "takes no text in quotes", names: `DNS:"a, URI:${memberUri(id)}, b"`, expected: undefined },
		{ name: "takes no more than an id", names: `URI:${memberUri(id)}/agents`, expected: undefined },
		{ name: "takes no empty id", names: "URI:xpdb://cluster/", expected: undefined },
	];
	for (const { name, names, expected } of rows) {
		test(name, () => expect(findMemberId(names)).toBe(expected));
	}
});

describe("describeMember()", () => {
	test("says whose a certificate is, and what it lacks", () => {
		expect(describeMember(`URI:${memberUri(id)}`)).toBe(`cluster id "${id}"`);
		expect(describeMember("DNS:a.svc")).toBe("no one cluster (no URI xpdb://cluster/ID)");
	});
});
