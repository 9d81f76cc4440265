// Builds the commands that help if a part of the fleet does not answer.
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import type { Silent } from "../../disruption/errors.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";

/** `context`: the context of the cluster that does not answer. */
export function diagnoseCommand(
	silent: Silent | undefined,
	{ context, suggest }: { readonly context: string; readonly suggest: SuggestedCommands },
): string {
	const { agentNamespace } = suggest;
	const ofAgents = ["-n", agentNamespace, "-l", `${agentLabel}=${agentName}`];
	switch (silent) {
		case "apiServer":
			return suggest.kubectl(["get", "--raw", "/readyz?verbose"], context);
		case "network":
			// The other clusters' agents should reach it through these Services.
			return suggest.kubectl(["get", "services", "-n", agentNamespace, "-o", "wide"], context);
		case "agent":
		case "unknown":
		case undefined:
			return suggest.kubectl(["get", "pods", ...ofAgents, "-o", "wide"], context);
	}
}

/**
 * Returns the command that helps if an agent shows an expired certificate, which its pod's status does not show; undefined for other
 * problems.
 */
export function renewExpired(why: string, suggest: SuggestedCommands): string | undefined {
	return why.includes("certificate has expired") ? suggest.xpdbInAll(["install", "certs", "--rotate"]) : undefined;
}
