// Judges whether the clusters are one fleet, from what their agents declare and from which members reach each other.
import { defaultFleetConfigMap } from "../../disruption/agent-names.ts";
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import { quote } from "../../disruption/quote.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { findFleetDifferences } from "../fleet/fleet-differences.ts";
import { type ClusterCheck, type FoundProblem, notChecked, type Reading } from "./check-report.ts";

/** A cluster that a context leads to, or that a member lists. */
export interface FleetColumn {
	/** The context's name, or the member's name if it has no context. */
	readonly name: string;
	/** "" if no context leads there. */
	readonly context: string;
	/** Contexts that do not answer. Any of them may lead to this cluster. */
	readonly mayBeBehind?: readonly string[];
	/** What its own agent says, directly or through another member's agents. */
	readonly description: Reading<AgentDescription>;
	/** The member's entry in a list that was read; undefined if none has one. */
	readonly listed: FleetMember | undefined;
}

/** The result of a call that one cluster's agents forwarded to another member. */
export interface PassedOn {
	readonly member: string;
	readonly answer: Reading<AgentDescription>;
}

/** Returns the checks by the column's name. */
export function judgeLists(
	columns: readonly FleetColumn[],
	suggest: SuggestedCommands,
): ReadonlyMap<string, ClusterCheck> {
	const described = columns.flatMap(({ name, description }) =>
		description.kind === "read" ? [{ name, description: description.value }] : [],
	);
	const differences = findFleetDifferences(described);
	return new Map(
		columns.map(({ name, context, description }) => {
			if (description.kind === "unread") return [name, notChecked(description.why)] as const;
			const fix = suggest.kubectl(
				["get", "configmap", defaultFleetConfigMap, "-n", suggest.agentNamespace, "-o", "yaml"],
				context,
			);
			const findings = differences
				.filter((each) => each.name === name)
				.map(
					({ kind, message }): FoundProblem => ({
						reason: kind === "unresolved" ? "MemberUnresolved" : "FleetsDiffer",
						message,
						fix,
					}),
				);
			return [name, { text: String(description.value.members.length), findings }] as const;
		}),
	);
}

export function judgeWay({ name, context, mayBeBehind, listed, description }: FleetColumn): ClusterCheck {
	if (mayBeBehind) {
		const contexts = mayBeBehind.map(quote).join(" or ");
		return notChecked(`context ${contexts} may lead to member ${name}, and gives no answer`);
	}
	if (context === "") {
		const message =
			description.kind === "read"
				? `no context leads to member ${name}: what only its API server can say is not checked, and its nodes cannot be drained`
				: `no context leads to member ${name}, and no other member's agents reach it: ${description.why}`;
		const reason = description.kind === "read" ? "MemberWithoutContext" : "PeerUnreachable";
		return { text: "no", findings: [{ reason, message, fix: "kubectl config get-contexts" }] };
	}
	if (description.kind === "unread") return notChecked(description.why);
	if (listed && listed.address === undefined) {
		const message = `${defaultFleetConfigMap} has no address for member ${listed.name}: other members' agents cannot reach it, and every run needs a context of it`;
		return { text: "yes", findings: [{ reason: "MemberWithoutAddress", message }] };
	}
	return { text: "yes", findings: [] };
}

/** `peers` is undefined if the cluster's agents could not be reached. */
export function judgePeers(
	peers: readonly PassedOn[] | undefined,
	{ name, suggest }: { readonly name: string; readonly suggest: SuggestedCommands },
): ClusterCheck {
	if (!peers) return notChecked("no agent was reached");
	const findings = peers.flatMap(({ member, answer }): readonly FoundProblem[] => {
		if (answer.kind === "read") return [];
		const message = `its agents do not reach member ${member}: ${answer.why}`;
		const fix = suggest.kubectl(["get", "services", "-n", suggest.agentNamespace, "-o", "wide"], name);
		return [{ reason: "MembersApart", message, fix }];
	});
	return { text: `${peers.length - findings.length} of ${peers.length}`, findings };
}
