// The same tests run with real API servers in test/e2e/ipv6.e2e.test.ts.
import { describeIpv6Fleet } from "../support/ipv6-fleet.ts";
import { startSmallIpv6Fleet } from "./small-ipv6-fleet.ts";

describeIpv6Fleet("two small clusters on ::1", startSmallIpv6Fleet);
