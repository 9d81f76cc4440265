// Requests TokenReviews and SubjectAccessReviews from the agent's own API server.
import { tokenAudience } from "../../disruption/agent-names.ts";
import { budgetApi } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { ApiRequest } from "../kubernetes/api-connection.ts";
import type { ReviewedUser } from "../peers/caller.ts";
import type { Reviews, TokenVerdict } from "./identity.ts";

const longestReason = 500;

interface ReviewsOptions {
	readonly api: ApiRequest;
	/** For messages. */
	readonly cluster: string;
}

export function createReviews({ api, cluster }: ReviewsOptions): Reviews {
	const create = async (group: string, kind: string, spec: unknown): Promise<Record<string, unknown>> => {
		const { status, body } = await api.request({
			method: "POST",
			path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
			body: { apiVersion: `${group}/v1`, kind, spec },
			what: `create a ${kind}`,
		});
		const answer = isRecord(body) ? body["status"] : undefined;
		if (status !== 201 || !isRecord(answer)) {
			const why = isRecord(body) && typeof body["message"] === "string" ? body["message"] : `status ${status}`;
			throw new AgentUnavailableError(
				`cannot create a ${kind} in cluster "${cluster}": ${shortenTo(why, longestReason)}`,
				cluster,
			);
		}
		return answer;
	};
	return {
		async reviewToken(token) {
			const spec = { token, audiences: [tokenAudience] };
			return tokenVerdict(await create("authentication.k8s.io", "TokenReview", spec), cluster);
		},
		async may({ username, uid, groups, extra }, { namespace, name }, verb = "acquire") {
			const resourceAttributes = {
				group: budgetApi.group,
				resource: budgetApi.resource,
				// A verb that only xpdb uses, so the right to it gives no right to change a budget.
				verb,
				namespace,
				...(name !== "" && { name }),
			};
			const spec = { resourceAttributes, user: username, uid, groups, extra };
			const answer = await create("authorization.k8s.io", "SubjectAccessReview", spec);
			return answer["allowed"] === true && answer["denied"] !== true;
		},
	};
}

function tokenVerdict(status: Readonly<Record<string, unknown>>, cluster: string): TokenVerdict {
	const rejected = (why: string): TokenVerdict => ({
		kind: "rejected",
		reason: `cannot accept the token in cluster "${cluster}": ${why}`,
	});
	if (status["authenticated"] !== true) {
		const why = status["error"];
		return rejected(
			typeof why === "string" && why.trim() !== ""
				? shortenTo(why, longestReason)
				: "the API server does not know it, or it has expired",
		);
	}
	// An authenticator that does not know about audiences reports none: the audience was not checked.
	const audiences = texts(status["audiences"]);
	if (!audiences.includes(tokenAudience)) return rejected(`it is not for the audience "${tokenAudience}"`);
	const user = findUser(status["user"]);
	return user ? { kind: "authenticated", user } : rejected("the API server names no user for it");
}

function findUser(value: unknown): ReviewedUser | undefined {
	if (!isRecord(value)) return undefined;
	const { username, uid, groups, extra } = value;
	if (typeof username !== "string" || username === "") return undefined;
	return {
		username,
		uid: typeof uid === "string" ? uid : "",
		groups: texts(groups),
		extra: isRecord(extra) ? Object.fromEntries(Object.entries(extra).map(([key, list]) => [key, texts(list)])) : {},
	};
}

function texts(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
