// On whose behalf an agent passes a call on to another: the caller whom it verified, for the other's log. It stands in
// headers, as percent-encoded text; only what comes by a member's certificate is believed.
import type { Metadata } from "@grpc/grpc-js";

export interface PassedOnCaller {
	/** As the API server that issued the token calls it. */
	readonly user: string;
	/** The id of the token in that server's audit log; "" where it gives none. */
	readonly tokenId: string;
}

const userKey = "xpdb-caller-user";
const tokenIdKey = "xpdb-caller-token-id";

/** Names of users may have any length; headers may not. */
const maxLength = 253;

export function writePassedOnCaller(metadata: Metadata, { user, tokenId }: PassedOnCaller): void {
	metadata.set(userKey, encode(user));
	metadata.set(tokenIdKey, encode(tokenId));
}

/** Undefined where none is named, or what is named cannot be read: it is for the log and decides nothing. */
export function findPassedOnCaller(metadata: Metadata): PassedOnCaller | undefined {
	const user = find(metadata, userKey);
	if (user === undefined || user === "") return undefined;
	return { user, tokenId: find(metadata, tokenIdKey) ?? "" };
}

function encode(text: string): string {
	return encodeURIComponent(text.toWellFormed().slice(0, maxLength).toWellFormed());
}

function find(metadata: Metadata, key: string): string | undefined {
	const [value, ...more] = metadata.get(key);
	if (typeof value !== "string" || more.length > 0) return undefined;
	try {
		return decodeURIComponent(value).slice(0, maxLength).toWellFormed();
	} catch (error) {
		if (error instanceof URIError) return undefined;
		throw error;
	}
}
