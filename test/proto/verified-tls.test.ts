import { describe, expect, test } from "vitest";
import { requireVerifiedTls, withoutNodeAdvice } from "../../proto/verified-tls.ts";

test("requireVerifiedTls() takes Node's switch away, and nothing else", () => {
	const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", HOME: "/home/alice" };
	requireVerifiedTls(env);
	expect(env).toEqual({ HOME: "/home/alice" });
});

describe("withoutNodeAdvice()", () => {
	const advised =
		"unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca";

	test("takes Node's advice away, or puts ours in its place", () => {
		expect(withoutNodeAdvice(advised)).toBe("unable to verify the first certificate");
		expect(withoutNodeAdvice(`${advised}.`, "name its CA")).toBe(
			"unable to verify the first certificate; name its CA.",
		);
	});

	test("leaves every other message as it is", () => {
		expect(withoutNodeAdvice("certificate has expired", "name its CA")).toBe("certificate has expired");
	});
});
