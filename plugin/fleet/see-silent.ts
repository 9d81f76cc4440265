// What shows more of a part that gives no answer, as a command.
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import type { Silent } from "../../disruption/errors.ts";
import { commandLine } from "../terminal/command-line.ts";

/** `context`: of the cluster whose answer is missing. */
export function seeSilent(
	silent: Silent | undefined,
	{ context, agentNamespace }: { readonly context: string; readonly agentNamespace: string },
): string {
	const at = context === "" ? [] : ["--context", context];
	const ofAgents = ["-n", agentNamespace, "-l", `${agentLabel}=${agentName}`];
	switch (silent) {
		case "apiServer":
			return commandLine(["kubectl", "get", "--raw", "/readyz?verbose", ...at]);
		case "network":
			// Where the other clusters' agents are to reach it.
			return commandLine(["kubectl", "get", "services", "-n", agentNamespace, "-o", "wide", ...at]);
		case "agent":
		case "unknown":
		case undefined:
			return commandLine(["kubectl", "get", "pods", ...ofAgents, "-o", "wide", ...at]);
	}
}
