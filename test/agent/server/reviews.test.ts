import { describe, expect, test } from "vitest";
import type { ApiAnswer, ApiRequest, ApiRequestOptions } from "../../../agent/kubernetes/api-connection.ts";
import { createReviews } from "../../../agent/server/reviews.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";

const user = {
	username: "system:serviceaccount:xpdb-system:xpdb-operator",
	uid: "uid",
	groups: ["system:authenticated"],
	extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"] },
};

function reviewsWith(answer: ApiAnswer) {
	const asked: ApiRequestOptions[] = [];
	const api: ApiRequest = {
		request: async (options) => {
			asked.push(options);
			return answer;
		},
	};
	return { reviews: createReviews({ api, cluster: "eu-1" }), asked };
}

const created = (status: unknown): ApiAnswer => ({ status: 201, body: { status } });

describe("reviewToken()", () => {
	test("asks for the audience of the agents and gives the user", async () => {
		const { reviews, asked } = reviewsWith(created({ authenticated: true, user, audiences: ["xpdb-agent"] }));
		expect(await reviews.reviewToken("abc")).toEqual({ kind: "authenticated", user });
		expect(asked).toMatchObject([
			{
				method: "POST",
				path: "/apis/authentication.k8s.io/v1/tokenreviews",
				body: { kind: "TokenReview", spec: { token: "abc", audiences: ["xpdb-agent"] } },
			},
		]);
	});

	const rejections: { name: string; status: unknown; why: string }[] = [
		{ name: "an unknown token", status: {}, why: "does not know it, or it has expired" },
		{ name: "an expired one", status: { authenticated: false, error: "token is expired" }, why: "token is expired" },
		{ name: "one for another audience", status: { authenticated: true, user, audiences: ["other"] }, why: "audience" },
		{ name: "an audience that nobody checked", status: { authenticated: true, user }, why: "audience" },
		{
			name: "a token of nobody",
			status: { authenticated: true, user: { username: "" }, audiences: ["xpdb-agent"] },
			why: "no user",
		},
		{ name: "something like true", status: { authenticated: "true", user, audiences: ["xpdb-agent"] }, why: "expired" },
	];
	for (const { name, status, why } of rejections) {
		test(`rejects ${name}`, async () => {
			const verdict = await reviewsWith(created(status)).reviews.reviewToken("abc");
			expect(verdict).toEqual({ kind: "rejected", reason: expect.stringContaining(why) });
		});
	}

	test("passes on no more than a few lines of what the API server says", async () => {
		const long = "x".repeat(5_000);
		const verdict = await reviewsWith(created({ error: long })).reviews.reviewToken("abc");
		expect(verdict.kind === "rejected" && verdict.reason.length).toBeLessThan(700);
		const failure = reviewsWith({ status: 403, body: { message: long } }).reviews.reviewToken("abc");
		await expect(failure).rejects.toThrow(/^.{1,700}$/);
	});

	const failures: ApiAnswer[] = [
		{ status: 403, body: { message: "tokenreviews is forbidden" } },
		{ status: 500, body: "oops" },
		{ status: 201, body: {} },
		{ status: 200, body: { status: { authenticated: true, user, audiences: ["xpdb-agent"] } } },
	];
	for (const answer of failures) {
		test(`has no answer in ${JSON.stringify(answer).slice(0, 60)}`, async () => {
			await expect(reviewsWith(answer).reviews.reviewToken("abc")).rejects.toBeInstanceOf(AgentUnavailableError);
		});
	}
});

describe("may()", () => {
	test("asks for the verb acquire on the budget, for the whole user", async () => {
		const { reviews, asked } = reviewsWith(created({ allowed: true }));
		expect(await reviews.may(user, { namespace: "shop", name: "web" })).toBe(true);
		const resourceAttributes = {
			group: "x-pdb.form3.tech",
			resource: "xpoddisruptionbudgets",
			verb: "acquire",
			namespace: "shop",
			name: "web",
		};
		const spec = { user: user.username, uid: "uid", groups: user.groups, extra: user.extra, resourceAttributes };
		expect(asked).toMatchObject([{ path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body: { spec } }]);
	});

	test("asks for all budgets of a namespace by naming none", async () => {
		const { reviews, asked } = reviewsWith(created({ allowed: true }));
		await reviews.may(user, { namespace: "shop", name: "" });
		expect(asked).toEqual([
			expect.objectContaining({
				body: expect.objectContaining({
					spec: expect.objectContaining({
						resourceAttributes: {
							group: "x-pdb.form3.tech",
							resource: "xpoddisruptionbudgets",
							verb: "acquire",
							namespace: "shop",
						},
					}),
				}),
			}),
		]);
	});

	for (const status of [{}, { allowed: false }, { allowed: true, denied: true }, { allowed: "true" }]) {
		test(`takes ${JSON.stringify(status)} for a no`, async () => {
			expect(await reviewsWith(created(status)).reviews.may(user, { namespace: "shop", name: "web" })).toBe(false);
		});
	}
});
