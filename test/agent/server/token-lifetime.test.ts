import { describe, expect, test } from "vitest";
import { lifetimeProblem } from "../../../agent/server/token-lifetime.ts";
import { tokenWith } from "../../support/build-token.ts";

const now = 1_700_000_000;

describe("lifetimeProblem()", () => {
	test("takes what lives an hour or less", () => {
		expect(lifetimeProblem(tokenWith({ iat: now, exp: now + 600 }))).toBeUndefined();
		expect(lifetimeProblem(tokenWith({ iat: now, exp: now + 3_600 }))).toBeUndefined();
	});

	const rows: readonly { name: string; token: string; says: string }[] = [
		{
			name: "a second more than an hour",
			token: tokenWith({ iat: now, exp: now + 3_601 }),
			says: "it lives for 61 minutes, more than 60",
		},
		{
			name: "a day",
			token: tokenWith({ iat: now, exp: now + 86_400 }),
			says: "it lives for 1440 minutes, more than 60",
		},
		{ name: "no end, as in a Secret", token: tokenWith({ iss: "kubernetes/serviceaccount" }), says: "it never ends" },
		{ name: "no beginning", token: tokenWith({ exp: now + 600 }), says: "its lifetime is unknown" },
		{ name: "an end that is a text", token: tokenWith({ iat: now, exp: `${now}` }), says: "its lifetime is unknown" },
		{ name: "an end that is nothing", token: tokenWith({ iat: now, exp: null }), says: "its lifetime is unknown" },
		{
			name: "an end beyond all numbers",
			token: tokenWithText(`{"iat":${now},"exp":1e999}`),
			says: "its lifetime is unknown",
		},
		{ name: "what is no JSON Web Token", token: "abc", says: "it is not a JSON Web Token" },
		{
			name: "too many parts",
			token: `${tokenWith({ iat: now, exp: now + 600 })}.more`,
			says: "it is not a JSON Web Token",
		},
		{ name: "a payload that is no JSON", token: tokenWithText("exp"), says: "it is not a JSON Web Token" },
		{ name: "a payload that is a list", token: tokenWithText("[]"), says: "it is not a JSON Web Token" },
	];
	for (const { name, token, says } of rows) {
		test(`refuses ${name}`, () => expect(lifetimeProblem(token)).toContain(says));
	}
});

function tokenWithText(payload: string): string {
	return `e30.${Buffer.from(payload).toString("base64url")}.c2ln`;
}
