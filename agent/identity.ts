// Who calls, and whether they may: every call on the token port brings a short-lived token for the audience of the agents,
// which the API server reviews, and the user in it needs the verb `acquire` on Leases in the lease namespace. Both
// answers are kept for a minute, by the token's hash; the token itself is kept nowhere and never logged.
import { createHash } from "node:crypto";

/** The user as a TokenReview gives it. */
export interface ReviewedUser {
	readonly username: string;
	readonly uid: string;
	readonly groups: readonly string[];
	readonly extra: Readonly<Record<string, readonly string[]>>;
}

export type TokenVerdict =
	| { readonly kind: "authenticated"; readonly user: ReviewedUser }
	| { readonly kind: "rejected"; readonly reason: string };

/** What the API server says of callers; rejects with AgentUnavailableError where it says nothing. */
export interface Reviews {
	reviewToken(token: string): Promise<TokenVerdict>;
	/** Undefined where the user may, else why not. */
	reviewAccess(user: ReviewedUser): Promise<string | undefined>;
}

export interface Caller {
	readonly user: string;
	/** The id under which the API server's audit log has the token's issue; "" where the server gives none. */
	readonly tokenId: string;
}

export type CallerVerdict =
	| { readonly kind: "allowed"; readonly caller: Caller }
	| { readonly kind: "unauthenticated"; readonly reason: string }
	| { readonly kind: "forbidden"; readonly reason: string };

export interface IdentityOptions {
	readonly reviews: Reviews;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** Told once for each token that is let in. */
	readonly onCaller?: (caller: Caller) => void;
}

/** As long as a revoked token goes on working; a minute is what design and API server caches promise. */
const allowedForMs = 60_000;
/** Rights that were just given work soon, and a client in a loop costs the API server little. */
const refusedForMs = 3_000;
/** Callers are few; whoever sends made-up tokens must not fill the memory. */
const maxRemembered = 1_000;
/** Tokens of the API server have about 1,000 characters. */
const maxTokenLength = 16_384;

const credentialId = "authentication.kubernetes.io/credential-id";

interface Remembered {
	readonly verdict: Promise<CallerVerdict>;
	/** Unknown while the API server is being asked. */
	until: number;
	announced: boolean;
}

export class Identity {
	readonly #options: IdentityOptions;
	readonly #remembered = new Map<string, Remembered>();

	constructor(options: IdentityOptions) {
		this.#options = options;
	}

	/** Judges the `authorization` of a call. Rejects with AgentUnavailableError where the API server gives no answer. */
	async check(authorization: readonly (string | Buffer)[]): Promise<CallerVerdict> {
		const token = findToken(authorization);
		if (token === undefined) {
			const reason = "Cannot serve a call without a bearer token of the audience xpdb-agent";
			return { kind: "unauthenticated", reason };
		}
		const hash = createHash("sha256").update(token).digest("base64");
		const now = this.#options.now();
		const known = this.#remembered.get(hash);
		if (known && now < known.until) return known.verdict;
		const remembered: Remembered = {
			verdict: this.#ask(token),
			until: Number.POSITIVE_INFINITY,
			announced: known?.announced ?? false,
		};
		this.#remember(hash, remembered, now);
		try {
			const verdict = await remembered.verdict;
			// From before the question, so that an answer that took long is not used for longer.
			remembered.until = now + (verdict.kind === "allowed" ? allowedForMs : refusedForMs);
			if (verdict.kind === "allowed" && !remembered.announced) {
				remembered.announced = true;
				this.#options.onCaller?.(verdict.caller);
			}
			return verdict;
		} catch (error) {
			if (this.#remembered.get(hash) === remembered) this.#remembered.delete(hash);
			throw error;
		}
	}

	async #ask(token: string): Promise<CallerVerdict> {
		const review = await this.#options.reviews.reviewToken(token);
		if (review.kind === "rejected") return { kind: "unauthenticated", reason: review.reason };
		const refusal = await this.#options.reviews.reviewAccess(review.user);
		if (refusal !== undefined) return { kind: "forbidden", reason: refusal };
		const caller = { user: review.user.username, tokenId: review.user.extra[credentialId]?.[0] ?? "" };
		return { kind: "allowed", caller };
	}

	#remember(hash: string, remembered: Remembered, now: number): void {
		this.#remembered.delete(hash);
		if (this.#remembered.size >= maxRemembered) {
			for (const [other, { until }] of this.#remembered) if (until <= now) this.#remembered.delete(other);
		}
		// Still full: the one that came first goes. It is only asked for again.
		for (const oldest of this.#remembered.keys()) {
			if (this.#remembered.size < maxRemembered) break;
			this.#remembered.delete(oldest);
		}
		this.#remembered.set(hash, remembered);
	}
}

function findToken(authorization: readonly (string | Buffer)[]): string | undefined {
	const [value, ...more] = authorization;
	if (typeof value !== "string" || more.length > 0 || value.length > maxTokenLength) return undefined;
	return /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(value)?.[1];
}
