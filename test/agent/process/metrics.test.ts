import { expect, test } from "vitest";
import { createMetrics } from "../../../agent/process/metrics.ts";

test("metrics say when the certificate and the CA expire, as soon as they are known", async () => {
	let known = false;
	const expiry = { certificateAt: new Date(1_900_000_000_000), caAt: new Date(2_000_000_000_000) };
	const { registry } = createMetrics({
		version: "0.1.0",
		reservations: () => 0,
		waiting: () => 0,
		pods: () => 0,
		certificateExpiry: () => (known ? expiry : undefined),
	});
	const name = "xpdb_certificate_expiry_timestamp_seconds";
	expect(await registry.getSingleMetricAsString(name)).not.toContain(`${name}{`);
	known = true;
	const text = await registry.getSingleMetricAsString(name);
	expect(text).toContain(`${name}{file="certificate"} 1900000000`);
	expect(text).toContain(`${name}{file="ca"} 2000000000`);
});
