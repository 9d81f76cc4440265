// Finds out whether this machine has the loopback address of IPv6. Containers often do not.
import { networkInterfaces } from "node:os";

export const hasIpv6Loopback = Object.values(networkInterfaces()).some((all) =>
	all?.some(({ address }) => address === "::1"),
);

/** Put this into the name of a test that is skipped without that address. */
export const whyWithoutIpv6 = hasIpv6Loopback ? "" : " (skipped: this machine has no IPv6 loopback address ::1)";
