import { describe, expect, test } from "vitest";
import { networkOf } from "../../../agent/process/network-of.ts";

describe("networkOf()", () => {
	const rows = [
		["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
		["2001:db8:1:2::6", "2001:db8:1:2::/64"],
		["2001:db8::6", "2001:db8:0:0::/64"],
		["2001:db8:0:0:6::", "2001:db8:0:0::/64"],
		["fd00::1:2:3:4:5", "fd00:0:0:1::/64"],
		["::1", "0:0:0:0::/64"],
		["fe80::1%eth0", "fe80:0:0:0::/64"],
		["64:ff9b::10.0.0.7", "64:ff9b:0:0::/64"],
		["::ffff:10.0.0.7", "::ffff:10.0.0.7"],
		["10.0.0.7", "10.0.0.7"],
		["", ""],
	] as const;
	for (const [address, network] of rows) {
		test(`of ${JSON.stringify(address)}`, () => {
			expect(networkOf(address)).toBe(network);
		});
	}
});
