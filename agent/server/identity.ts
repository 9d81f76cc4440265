// Identifies callers on the token port by a token for the agents' audience, which the API server reviews and which lives at most an hour. A
// verdict is cached by the token's hash, for a minute if the token was accepted. The token itself is never kept or logged.
import { createHash } from "node:crypto";
import { tokenAudience } from "../../disruption/agent-names.ts";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { isRecord } from "../../disruption/record.ts";
import { KeptAnswers } from "../process/kept-answers.ts";
import type { ReviewedUser, TokenCaller } from "../peers/caller.ts";
import type { ReviewRate } from "./review-rate.ts";
import { lifetimeProblem } from "./token-lifetime.ts";

export type TokenVerdict =
	| { readonly kind: "authenticated"; readonly user: ReviewedUser }
	| { readonly kind: "rejected"; readonly reason: string };

/** Verbs that only xpdb uses: `acquire` to decide about a budget, `release` to end what others hold of it. */
export type BudgetVerb = "acquire" | "release";

/** Asks the API server about callers. Rejects with AgentUnavailableError if it gives no answer. */
export interface Reviews {
	reviewToken(token: string): Promise<TokenVerdict>;
	/** Whether the user has the verb (default: `acquire`) on the budget. With name "": on every budget of the namespace. */
	may(user: ReviewedUser, budget: BudgetName, verb?: BudgetVerb): Promise<boolean>;
}

export type CallerVerdict =
	| { readonly kind: "authenticated"; readonly caller: TokenCaller }
	| { readonly kind: "unauthenticated"; readonly reason: string };

interface IdentityOptions {
	readonly reviews: Pick<Reviews, "reviewToken">;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** Limits the reviews of unknown tokens; unlimited if left out. */
	readonly rate?: Pick<ReviewRate, "begin">;
	/** For messages. */
	readonly cluster?: string;
	/** Called for each token that is admitted; normally once. */
	readonly onCaller?: (caller: TokenCaller) => void;
}

/** How long a revoked token continues to work at most. */
const knownForMs = 60_000;
/** How long a refusal is kept, so that a client in a loop costs the API server little. */
const refusedForMs = 3_000;
/** Limits the memory that made-up tokens can use. */
const maxKept = 1_000;
/** Tokens of the API server have about 1,000 characters. */
const maxTokenLength = 16_384;

const credentialId = "authentication.kubernetes.io/credential-id";

export class Identity {
	readonly #options: IdentityOptions;
	readonly #verdicts: KeptAnswers<CallerVerdict>;
	/** Hashes of the tokens that were reported to `onCaller`. */
	readonly #announced = new Set<string>();

	constructor(options: IdentityOptions) {
		this.#options = options;
		this.#verdicts = new KeptAnswers({
			now: options.now,
			keepForMs: ({ kind }) => (kind === "authenticated" ? knownForMs : refusedForMs),
			max: maxKept,
		});
	}

	/**
	 * Judges the `authorization` of a call from this address. Rejects with AgentUnavailableError if the API server gives no answer, or if
	 * too many unknown tokens arrive. A token that was not reviewed is not cached, so it displaces no known token.
	 */
	async check(authorization: readonly (string | Buffer)[], address = ""): Promise<CallerVerdict> {
		const token = findToken(authorization);
		if (token === undefined) {
			const reason = `cannot serve a call without a bearer token of the audience ${tokenAudience}`;
			return { kind: "unauthenticated", reason };
		}
		const tokenHash = createHash("sha256").update(token).digest("base64");
		if (this.#verdicts.has(tokenHash) || this.#announced.has(tokenHash)) {
			return this.#verdicts.get(tokenHash, () => this.#ask(token, tokenHash));
		}
		const end = this.#begin(address);
		return this.#verdicts.get(tokenHash, () => this.#ask(token, tokenHash).finally(end));
	}

	/** Counts a review until the returned function is called. Throws AgentUnavailableError if no further review may start. */
	#begin(address: string): () => void {
		const { rate, cluster = "" } = this.#options;
		const end = rate ? rate.begin(address) : () => undefined;
		if (end) return end;
		throw new AgentUnavailableError(
			`cannot check the token in cluster "${cluster}": too many tokens are new to its agent at this moment; it may be sent again`,
			cluster,
		);
	}

	async #ask(token: string, tokenHash: string): Promise<CallerVerdict> {
		const review = await this.#options.reviews.reviewToken(token);
		if (review.kind === "rejected") return { kind: "unauthenticated", reason: review.reason };
		const problem = lifetimeProblem(token);
		if (problem !== undefined) {
			const reason = `cannot accept the token: ${problem}; let kubectl xpdb ask for one, or use kubectl create token --duration=10m`;
			return { kind: "unauthenticated", reason };
		}
		const { user } = review;
		const caller: TokenCaller = { kind: "token", user, tokenId: user.extra[credentialId]?.[0] ?? "", tokenHash };
		this.#announce(caller);
		return { kind: "authenticated", caller };
	}

	#announce(caller: TokenCaller): void {
		if (this.#announced.has(caller.tokenHash)) return;
		// Some tokens are then reported twice.
		if (this.#announced.size >= maxKept) this.#announced.clear();
		this.#announced.add(caller.tokenHash);
		this.#options.onCaller?.(caller);
	}
}

function findToken(authorization: readonly (string | Buffer)[]): string | undefined {
	const [value, ...more] = authorization;
	if (typeof value !== "string" || more.length > 0 || value.length > maxTokenLength) return undefined;
	const token = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(value)?.[1];
	return token !== undefined && isForAgents(token) ? token : undefined;
}

/**
 * Whether the token claims the agents' audience. Any other token is refused without a review. Only the API server can say whether the claim
 * is genuine.
 */
function isForAgents(token: string): boolean {
	const [, payload, ...rest] = token.split(".");
	if (payload === undefined || rest.length !== 1) return false;
	try {
		const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
		const audiences = isRecord(claims) ? claims["aud"] : undefined;
		return audiences === tokenAudience || (Array.isArray(audiences) && audiences.includes(tokenAudience));
	} catch (error) {
		if (error instanceof SyntaxError) return false;
		throw error;
	}
}
