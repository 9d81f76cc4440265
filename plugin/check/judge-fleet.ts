// Whether the clusters are one fleet: by what their agents declare, and by who can reach whom.
import { defaultFleetConfigMap } from "../../disruption/agent-names.ts";
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import { quote } from "../../disruption/quote.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { findFleetDifferences } from "../fleet/fleet-differences.ts";
import { type ClusterCheck, type FoundProblem, notChecked, type Reading } from "./check-report.ts";

/** A cluster that a context leads to, or that others list as a member. */
export interface FleetColumn {
	/** The context's name, or the member's where there is no context. */
	readonly name: string;
	/** "" where none leads there. */
	readonly context: string;
	/** Contexts that give no answer: any of them may lead there. */
	readonly mayBeBehind?: readonly string[];
	/** As its own agent says it, whoever passed the question on. */
	readonly description: Reading<AgentDescription>;
	/** As others list it; undefined where nobody does. */
	readonly listed: FleetMember | undefined;
}

/** What became of a call that the agents of one cluster passed on to another member's. */
export interface PassedOn {
	readonly member: string;
	readonly answer: Reading<AgentDescription>;
}

/** By the column's name. */
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
				: `no context leads to member ${name}, and nobody else's agents reach it: ${description.why}`;
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

/** `peers`: undefined where its agents were not reached. */
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
