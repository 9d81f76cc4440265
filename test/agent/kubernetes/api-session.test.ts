import { expect, onTestFinished, test } from "vitest";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { playTwoAddresses, twoAddresses } from "../../support/two-addresses.ts";

test("a server of which all addresses refuse is reported with each of them, and each has a second", async () => {
	const timeouts: unknown[] = [];
	playTwoAddresses((options) => timeouts.push(options["autoSelectFamilyAttemptTimeout"]));
	const access = { server: `https://${twoAddresses}:1`, tls: () => ({}), token: () => undefined };
	const connection = createApiConnection({ access, clock: systemClock, cluster: "eu-1" });
	onTestFinished(() => connection.close());
	await expect(connection.request({ method: "GET", path: "/version" })).rejects.toThrow(
		/no answer from its API server: connect \w+ 127\.0\.0\.1:1, connect \w+ ::1:1/,
	);
	expect(timeouts).toEqual([1_000]);
});
