// What shows more of a part that gives no answer, as a command.
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import type { Silent } from "../../disruption/errors.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";

/** `context`: of the cluster whose answer is missing. */
export function seeSilent(
	silent: Silent | undefined,
	{ context, suggest }: { readonly context: string; readonly suggest: SuggestedCommands },
): string {
	const { agentNamespace } = suggest;
	const ofAgents = ["-n", agentNamespace, "-l", `${agentLabel}=${agentName}`];
	switch (silent) {
		case "apiServer":
			return suggest.kubectl(["get", "--raw", "/readyz?verbose"], context);
		case "network":
			// Where the other clusters' agents are to reach it.
			return suggest.kubectl(["get", "services", "-n", agentNamespace, "-o", "wide"], context);
		case "agent":
		case "unknown":
		case undefined:
			return suggest.kubectl(["get", "pods", ...ofAgents, "-o", "wide"], context);
	}
}

/** What helps where an agent shows a certificate that has expired, of which its pods tell nothing; undefined for other troubles. */
export function renewExpired(why: string, suggest: SuggestedCommands): string | undefined {
	return why.includes("certificate has expired") ? suggest.xpdbInAll(["install", "certs", "--rotate"]) : undefined;
}
