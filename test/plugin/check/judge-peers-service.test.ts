import { describe, expect, test } from "vitest";
import { judgePeersService } from "../../../plugin/check/judge-peers-service.ts";
import { newContext } from "../../support/build-context.ts";
import { judgeServedAt } from "../../support/judge-served-at.ts";

const eu = { id: "1", name: "eu" };

describe("judgePeersService()", () => {
	test("finds nothing where there is no Service of ours", () => {
		expect(judgePeersService({ kind: "read", value: undefined }, eu, newContext("eu"))).toEqual({
			text: "none",
			findings: [],
		});
	});

	const well = [
		{
			name: "a listed address that it has",
			addresses: ["10.0.0.1:8444", "[2001:db8::1]:8444"],
			listed: "[2001:db8::1]:8444",
		},
		{
			name: "a listed IPv6 address that is written in another way",
			addresses: ["[2001:db8::1]:8444"],
			listed: "[2001:0DB8:0:0::0001]:8444",
		},
		{ name: "a name, which may lead to its address", addresses: ["10.0.0.1:8444"], listed: "eu.example.com:8444" },
		{ name: "a name in the place of its own", addresses: ["a.elb.example.com:8444"], listed: "eu.example.com:8444" },
		{ name: "an address of its name", addresses: ["a.elb.example.com:8444"], listed: "203.0.113.7:8444" },
	];
	test.each(well)("takes $name for well", ({ addresses, listed }) => {
		expect(judgeServedAt(addresses, { ...eu, address: listed })).toEqual([]);
		// An unlisted cluster gets other findings.
		expect(judgeServedAt(addresses, undefined)).toEqual([]);
	});

	test("tells the command that lists what it has", () => {
		expect(judgeServedAt(["10.0.0.1:31234"], { ...eu, address: "10.0.0.2:31234" })).toEqual([
			{
				reason: "AddressDiffers",
				message:
					"service/xpdb-peers is reached at 10.0.0.1:31234, and the fleet lists 10.0.0.2:31234 for eu, which it has not (any more)",
				fix: expect.stringMatching(/^kubectl xpdb install --address=eu=10\.0\.0\.1:31234/),
			},
		]);
	});
});
