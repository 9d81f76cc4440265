import { describe, expect, test } from "vitest";
import { AddressInUseError } from "./fleet-errors.ts";
import { claimOctet, isClaimed } from "./octet.ts";

describe("claimOctet()", () => {
	test("gives two fleets two octets, and one back that was released", async () => {
		const first = await claimOctet({ from: 200 });
		const second = await claimOctet({ from: 200 });
		try {
			expect(second.value).toBeGreaterThan(first.value);
			expect(await isClaimed(first.value)).toBe(true);
			await expect(claimOctet({ octet: first.value })).rejects.toThrow(AddressInUseError);
			await first.release();
			expect(await isClaimed(first.value)).toBe(false);
		} finally {
			await first.release();
			await second.release();
		}
	});
});
