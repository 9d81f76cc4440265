import type { IncomingHttpHeaders } from "node:http2";
import { Metadata } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { findPassedOnCaller, type PassedOnCaller, writePassedOnCaller } from "../../proto/passed-on.ts";

function roundTrip(caller: PassedOnCaller): PassedOnCaller | undefined {
	const metadata = new Metadata();
	writePassedOnCaller(metadata, caller);
	// A value that no header can carry would throw here.
	return findPassedOnCaller(Metadata.fromHttp2Headers(metadata.toHttp2Headers() as IncomingHttpHeaders));
}

describe("the caller of a call that is passed on", () => {
	test("arrives as it was verified, whatever is in the name", () => {
		const caller = { user: "system:serviceaccount:xpdb-system:jürgen\r\nx: y", tokenId: "JTI=1" };
		expect(roundTrip(caller)).toEqual(caller);
	});

	test("arrives cut to what a header may have", () => {
		const caller = roundTrip({ user: "a".repeat(1_000), tokenId: `${"b".repeat(252)}\u{1f600}` });
		expect(caller?.user).toHaveLength(253);
		expect(caller?.tokenId.isWellFormed()).toBe(true);
	});

	test("is nobody where it is not named, named twice, or cannot be read", () => {
		expect(findPassedOnCaller(new Metadata())).toBeUndefined();
		const garbled = new Metadata();
		garbled.set("xpdb-caller-user", "%E0%A4%A");
		expect(findPassedOnCaller(garbled)).toBeUndefined();
		const twice = new Metadata();
		twice.add("xpdb-caller-user", "alice");
		twice.add("xpdb-caller-user", "bob");
		expect(findPassedOnCaller(twice)).toBeUndefined();
	});
});
