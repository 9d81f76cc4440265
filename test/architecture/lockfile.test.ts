import { describe, expect, test } from "vitest";
import { findUnprovenPackages, findUnshippableLicences, type LockEntry } from "./lockfile.ts";

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

describe("findUnshippableLicences()", () => {
	const rows: readonly { readonly name: string; readonly entry: LockEntry; readonly says?: string }[] = [
		{ name: "a permissive one", entry: { license: "MIT" } },
		{ name: "a choice with a permissive one", entry: { license: "(GPL-3.0-only OR MIT)" } },
		{ name: "two permissive ones together", entry: { license: "(Apache-2.0 AND BSD-3-Clause)" } },
		{ name: "MPL-2.0 in a tool", entry: { license: "MPL-2.0", dev: true } },
		{ name: "MPL-2.0 in what is shipped", entry: { license: "MPL-2.0" }, says: "has the licence MPL-2.0" },
		{ name: "a copyleft one", entry: { license: "GPL-3.0-only", dev: true }, says: "has the licence GPL-3.0-only" },
		{
			name: "one of two that is not",
			entry: { license: "MIT AND GPL-3.0-only" },
			says: "has the licence MIT AND GPL-3.0-only",
		},
		{ name: "a nested one", entry: { license: "(MIT AND (ISC OR X))" }, says: "has the licence (MIT AND (ISC OR X))" },
		{ name: "none", entry: {}, says: "does not say its licence" },
	];
	for (const { name, entry, says } of rows) {
		test(`${says === undefined ? "takes" : "finds"} ${name}`, () => {
			const found = findUnshippableLicences({ "": {}, "node_modules/a": entry });
			expect(found).toEqual(says === undefined ? [] : [`node_modules/a ${says}`]);
		});
	}

	test("takes what is known of a package that does not say it", () => {
		expect(findUnshippableLicences({ "node_modules/b/node_modules/a": {} }, { a: "MIT" })).toEqual([]);
	});
});
