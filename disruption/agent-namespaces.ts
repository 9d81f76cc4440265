// Reads the list of namespaces with agents, besides the anchor, from the anchor's ConfigMap `xpdb-fleet`. Users who may write in these
// namespaces are trusted as agents. So an invalid list is an error, and no part of it is used.
import { quote } from "./quote.ts";

export const agentNamespacesKey = "namespaces";

type AgentNamespaces =
	| { readonly kind: "namespaces"; readonly namespaces: readonly string[] }
	/** `why` begins with agentNamespacesKey, for messages. */
	| { readonly kind: "invalid"; readonly why: string };

/** More would make searches slow: each search for agents lists the pods of each of these namespaces. */
const maxNamespaces = 100;
/** A DNS-1123 label, as the API server requires for namespaces. */
const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Reads the parsed value of agentNamespacesKey. Never throws. */
export function readAgentNamespaces(list: unknown): AgentNamespaces {
	const invalid = (why: string): AgentNamespaces => ({ kind: "invalid", why: `${agentNamespacesKey}${why}` });
	if (!Array.isArray(list)) return invalid(" is not a list");
	if (list.length > maxNamespaces) return invalid(` has ${list.length} entries, more than ${maxNamespaces}`);
	const namespaces: string[] = [];
	for (const [index, entry] of list.entries()) {
		if (typeof entry !== "string" || !namespaceName.test(entry)) {
			return invalid(`[${index}] is not the name of a namespace: ${quote(entry)}`);
		}
		if (namespaces.includes(entry)) return invalid(` names ${quote(entry)} twice`);
		namespaces.push(entry);
	}
	return { kind: "namespaces", namespaces };
}
