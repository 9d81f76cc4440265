import { describe, expect, test } from "vitest";
import { findUnprovenPackages, type LockEntry } from "./lockfile.ts";

const integrity = `sha512-${"A".repeat(86)}==`;

describe("findUnprovenPackages()", () => {
	const rows: readonly { readonly name: string; readonly entry: LockEntry; readonly says?: string }[] = [
		{ name: "one with its integrity", entry: { version: "1.0.0", integrity } },
		{ name: "one without", entry: { version: "1.0.0" }, says: "has no integrity" },
		{ name: "one of another hash", entry: { integrity: "sha1-AAAA" }, says: "has the integrity sha1-AAAA" },
		{ name: "a link", entry: { link: true, integrity }, says: "is a link" },
		{
			name: "one from a repository",
			entry: { resolved: "git+ssh://git@example.com/a.git" },
			says: "is not from a registry",
		},
		{
			name: "one without TLS",
			entry: { resolved: "http://example.com/a.tgz", integrity },
			says: "is not from a registry",
		},
	];
	for (const { name, entry, says } of rows) {
		test(`${says === undefined ? "takes" : "finds"} ${name}`, () => {
			const found = findUnprovenPackages({ "": {}, "node_modules/a": entry });
			expect(found).toEqual(says === undefined ? [] : [`node_modules/a ${says}`]);
		});
	}

	test("finds packages from two places", () => {
		const from = (host: string): LockEntry => ({ resolved: `https://${host}/a.tgz`, integrity });
		expect(findUnprovenPackages({ a: from("one.example.com"), b: from("one.example.com") })).toEqual([]);
		expect(findUnprovenPackages({ a: from("one.example.com"), b: from("two.example.com") })).toHaveLength(2);
	});
});
