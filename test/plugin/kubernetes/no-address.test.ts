// Tests that IP addresses are recognised exactly as by Node, mostly without Node's pattern for IPv6.
import net from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createIsIP } from "../../../plugin/kubernetes/no-address.ts";

const isIP = createIsIP({ isIP: net.isIP, isIPv4: net.isIPv4 });
const texts = fc.oneof(
	fc.ipV4(),
	fc.ipV6(),
	fc.ipV6().map((address) => `${address}%eth0`),
	fc.domain(),
	fc.string({ unit: fc.constantFrom(..."0123456789abcdef.:%-") }),
	fc.string(),
);

test("says of every text what Node says of it", () => {
	fc.assert(fc.property(texts, (text) => isIP(text) === net.isIP(text)));
	for (const text of ["", "::", "::1", "127.0.0.1", "127.0.0.1.", "::ffff:127.0.0.1", "xpdb-agent.xpdb-system.svc"])
		expect(isIP(text)).toBe(net.isIP(text));
});

test("asks Node for nothing but what has a colon", () => {
	const asked: string[] = [];
	const counting = createIsIP({
		isIP(text) {
			asked.push(text);
			return net.isIP(text);
		},
		isIPv4: net.isIPv4,
	});
	for (const text of ["xpdb-agent.xpdb-system.svc", "127.0.0.1", "localhost", "::1"]) counting(text);
	expect(asked).toEqual(["::1"]);
});
