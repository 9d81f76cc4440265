import { describe, expect, test } from "vitest";
import type { TokenCaller } from "../../../agent/peers/caller.ts";
import { Identity, type Reviews, type TokenVerdict } from "../../../agent/server/identity.ts";
import { ReviewRate } from "../../../agent/server/review-rate.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { operator } from "../../support/build-caller.ts";
import { tokenWith } from "../../support/build-token.ts";

function fakeReviews(tokens: Record<string, TokenVerdict>) {
	const asked: string[] = [];
	const reviews: Pick<Reviews, "reviewToken"> = {
		reviewToken: async (token) => {
			asked.push(token);
			return tokens[token] ?? { kind: "rejected", reason: "Unknown token" };
		},
	};
	return { reviews, asked };
}

const good: TokenVerdict = { kind: "authenticated", user: operator };
const known = {
	kind: "authenticated",
	caller: { kind: "token", user: operator, tokenId: "JTI=1", tokenHash: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) },
};

/** Returns a token for these audiences, as TokenRequest issues it. */
function tokenOf(name: string, aud: unknown = ["xpdb-agent"]): string {
	return tokenWith({ aud, sub: name, iat: 1_700_000_000, exp: 1_700_000_600 });
}

const abc = tokenOf("abc");

describe("Identity", () => {
	test("lets in who has a token, and says so once", async () => {
		const { reviews, asked } = fakeReviews({ [abc]: good });
		const callers: TokenCaller[] = [];
		const identity = new Identity({ reviews, now: () => 0, onCaller: (caller) => callers.push(caller) });
		expect(await Promise.all([identity.check([`Bearer ${abc}`]), identity.check([`bearer ${abc}`])])).toEqual([
			known,
			known,
		]);
		expect(asked).toEqual([abc]);
		expect(callers).toEqual([known.caller]);
	});

	test("asks again after a minute, and speaks of the same token once", async () => {
		let now = 0;
		const callers: TokenCaller[] = [];
		const tokens: Record<string, TokenVerdict> = { [abc]: good };
		const { reviews, asked } = fakeReviews(tokens);
		const identity = new Identity({ reviews, now: () => now, onCaller: (caller) => callers.push(caller) });
		await identity.check([`Bearer ${abc}`]);
		now = 59_999;
		await identity.check([`Bearer ${abc}`]);
		expect(asked).toHaveLength(1);
		now = 60_000;
		expect((await identity.check([`Bearer ${abc}`])).kind).toBe("authenticated");
		expect(asked).toHaveLength(2);
		expect(callers).toHaveLength(1);
		delete tokens[abc];
		now = 120_000;
		expect((await identity.check([`Bearer ${abc}`])).kind).toBe("unauthenticated");
	});

	test("refuses tokens that live longer than an hour or never end, whatever the API server says of them", async () => {
		const aud = ["xpdb-agent"];
		const day = tokenWith({ aud, iat: 1_700_000_000, exp: 1_700_086_400 });
		const endless = tokenWith({ aud, iss: "kubernetes/serviceaccount" });
		const { reviews } = fakeReviews({ [day]: good, [endless]: good });
		const callers: TokenCaller[] = [];
		const identity = new Identity({ reviews, now: () => 0, onCaller: (caller) => callers.push(caller) });
		const reasons = [
			[day, "it lives for 1440 minutes, more than 60"],
			[endless, "it never ends"],
		] as const;
		for (const [token, why] of reasons) {
			expect(await identity.check([`Bearer ${token}`])).toEqual({
				kind: "unauthenticated",
				reason: expect.stringContaining(why),
			});
		}
		expect(callers).toEqual([]);
	});

	test("asks again soon for who was refused", async () => {
		let now = 0;
		const tokens: Record<string, TokenVerdict> = {};
		const { reviews, asked } = fakeReviews(tokens);
		const identity = new Identity({ reviews, now: () => now });
		expect(await identity.check([`Bearer ${abc}`])).toEqual({ kind: "unauthenticated", reason: "Unknown token" });
		tokens[abc] = good;
		now = 2_999;
		expect((await identity.check([`Bearer ${abc}`])).kind).toBe("unauthenticated");
		expect(asked).toEqual([abc]);
		now = 3_000;
		expect((await identity.check([`Bearer ${abc}`])).kind).toBe("authenticated");
	});

	test("remembers nothing where the API server gave no answer", async () => {
		const { reviews } = fakeReviews({ [abc]: good });
		let down = true;
		const identity = new Identity({
			reviews: {
				...reviews,
				reviewToken: async (token) => {
					if (down) throw new AgentUnavailableError("cannot create a TokenReview", "eu-1");
					return reviews.reviewToken(token);
				},
			},
			now: () => 0,
		});
		const first = [identity.check([`Bearer ${abc}`]), identity.check([`Bearer ${abc}`])];
		for (const check of first) await expect(check).rejects.toBeInstanceOf(AgentUnavailableError);
		down = false;
		expect((await identity.check([`Bearer ${abc}`])).kind).toBe("authenticated");
	});

	test("asks nobody about what is no bearer token", async () => {
		const { reviews, asked } = fakeReviews({ [abc]: good });
		const identity = new Identity({ reviews, now: () => 0 });
		const rows = [[], [""], [abc], ["Basic abc"], ["Bearer a b"], ["Bearer "], [`Bearer ${abc}`, `Bearer ${abc}`]];
		const others = ["abc", "a.b.c", `${abc}.d`, tokenOf("abc", "https://kubernetes.default.svc"), tokenOf("abc", null)];
		for (const other of others) rows.push([`Bearer ${other}`]);
		for (const row of [...rows, [`Bearer ${"a".repeat(20_000)}`]]) {
			expect((await identity.check(row)).kind).toBe("unauthenticated");
		}
		expect(asked).toEqual([]);
	});

	test("remembers at most a thousand tokens, and asks again for those it forgot", async () => {
		const { reviews, asked } = fakeReviews({ [abc]: good });
		const identity = new Identity({ reviews, now: () => 0 });
		await identity.check([`Bearer ${abc}`]);
		for (let index = 0; index < 1_000; index++) await identity.check([`Bearer ${tokenOf(`made-up-${index}`)}`]);
		asked.length = 0;
		await identity.check([`Bearer ${tokenOf("made-up-999")}`]);
		expect(asked).toEqual([]);
		await identity.check([`Bearer ${abc}`]);
		expect(asked).toEqual([abc]);
	});

	test("delays nobody who is known, while the API server is asked about few of many made-up tokens", async () => {
		let now = 0;
		const { reviews, asked } = fakeReviews({ [abc]: good });
		const rate = new ReviewRate({ now: () => now });
		const identity = new Identity({ reviews, rate, cluster: "eu-1", now: () => now });
		expect((await identity.check([`Bearer ${abc}`], "127.0.0.1")).kind).toBe("authenticated");
		const flood = async (round: number) => {
			const checks = Array.from({ length: 3_000 }, (_, index) =>
				identity.check([`Bearer ${tokenOf(`made-up-${round}-${index}`)}`], "127.0.0.1"),
			);
			const results = await Promise.allSettled(checks);
			const answered = results.filter((result) => result.status === "fulfilled").map(({ value }) => value.kind);
			const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
			expect(new Set(answered)).toEqual(new Set(["unauthenticated"]));
			expect(refused.every((reason) => reason instanceof AgentUnavailableError)).toBe(true);
			expect(refused.length).toBeGreaterThan(2_900);
		};
		await flood(1);
		expect(asked.length).toBeLessThan(50);
		expect((await identity.check([`Bearer ${abc}`], "127.0.0.1")).kind).toBe("authenticated");
		// After a minute, the token's review has expired, and the flood has used up every new review.
		now = 60_000;
		await flood(2);
		expect((await identity.check([`Bearer ${abc}`], "127.0.0.1")).kind).toBe("authenticated");
		expect(asked.filter((token) => token === abc)).toHaveLength(2);
	});
});
