// Warns if the CA's key may leave the fleet together with a member.
import { ApiError, ConnectionError, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { authorityReference, authoritySecret } from "./certificate-objects.ts";
import { objectPath } from "./object-path.ts";

/** Returns lines for the user; empty if one of these clusters keeps the key. `leaving`: the name of the leaving member. */
export async function warnOfKeyThatLeaves(
	contexts: readonly KubeContext[],
	leaving: string,
): Promise<{ readonly before: readonly string[]; readonly after: readonly string[] }> {
	const found = await Promise.all(contexts.map(findKey));
	const [first] = contexts;
	if (!first || found.includes("kept")) return { before: [], after: [] };
	const unread = contexts.filter((_, index) => found[index] === "unknown").map(({ name }) => name);
	if (unread.length > 0) {
		const why = `cannot tell whether ${unread.join(", ")} keeps the CA's key (Secret ${authoritySecret})`;
		return { before: [`${why}: if ${leaving} keeps it, change the CA afterwards`], after: [] };
	}
	const names = contexts.map(({ name }) => name).join(", ");
	const contextList = contexts.map(({ name }) => name).join(",");
	const move = `kubectl xpdb install certs --keep-in=${first.name} --contexts=CONTEXT,${contextList}`;
	const change = `kubectl xpdb install certs --rotate --ca --keep-in=${first.name} --contexts=${contextList}`;
	return {
		before: [
			`none of ${names} keeps the CA's key (Secret ${authoritySecret}). If ${leaving} does, anyone with access to ${leaving} can still sign certificates for every member`,
			`if ${leaving} still answers, move the key first, with its context instead of CONTEXT: ${move}`,
		],
		after: [
			`Unless you keep the CA's key in a file, ${leaving} has it. To shut it out, make a new CA whose key ${first.name} keeps: ${change}`,
		],
	};
}

async function findKey({ client, agents }: KubeContext): Promise<"kept" | "none" | "unknown"> {
	try {
		await client.get(objectPath(authorityReference(agents.namespace)));
		return "kept";
	} catch (error) {
		if (isNotFound(error)) return "none";
		if (error instanceof ApiError || error instanceof ConnectionError) return "unknown";
		throw error;
	}
}
