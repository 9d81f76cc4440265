// Writes and reads the headers that name the caller on whose behalf an agent forwards a call. The forwarding agent has verified that
// caller. The other agent logs it, and shows it in lists of Leases. The headers are trusted only if the call comes with a member's
// certificate.
import type { Metadata } from "@grpc/grpc-js";

export interface PassedOnCaller {
	/** The user name that the API server gave when it reviewed the token. */
	readonly user: string;
	/** The id of the token in that server's audit log, or "" if it gives none. */
	readonly tokenId: string;
}

const userKey = "xpdb-caller-user";
const tokenIdKey = "xpdb-caller-token-id";

/** User names may have any length, but headers may not. */
const maxLength = 253;

export function writePassedOnCaller(metadata: Metadata, { user, tokenId }: PassedOnCaller): void {
	metadata.set(userKey, encode(user));
	metadata.set(tokenIdKey, encode(tokenId));
}

/** Returns undefined if no caller is named, or if the name cannot be read. It is for people, and no decision depends on it. */
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
