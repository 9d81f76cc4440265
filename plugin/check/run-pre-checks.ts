// Implements `kubectl xpdb check --pre`: judges whether agents can be installed in these clusters. It changes nothing.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { CheckRow } from "./check-report.ts";
import { accessRow, clusterRow } from "./cluster-rows.ts";
import { judgeAnchor, judgeBudgetKind } from "./judge-access.ts";
import { judgeAgentsBefore, judgeLabelledPods } from "./judge-agents.ts";
import { judgeClocks } from "./judge-clocks.ts";
import { judgeXpdb } from "./judge-policies.ts";
import { judgeInstallRights } from "./judge-rights.ts";
import { readCluster } from "./read-cluster.ts";

export async function* runPreChecks(contexts: readonly KubeContext[]): AsyncGenerator<CheckRow> {
	const asked = contexts.map((context) => ({ context, facts: readCluster(context) }));
	const needed = { isNeeded: true };
	const besides = { isNeeded: false };
	const rows: readonly Promise<CheckRow>[] = [
		accessRow(asked),
		clusterRow(
			asked,
			{ ...besides, category: "access", title: "clocks agree within 5 s" },
			async ({ context, facts }) => judgeClocks(await facts.clock, [], context),
		),
		clusterRow(asked, { ...needed, category: "rights", title: "may install the agents" }, ({ context, facts }) =>
			judgeInstallRights(facts, context),
		),
		clusterRow(
			asked,
			{ ...needed, category: "agents", title: "their namespace can be made" },
			async ({ context, facts }) => judgeAnchor(await facts.anchor, context),
		),
		clusterRow(asked, { ...needed, category: "agents", title: "no agents are there yet" }, async ({ context, facts }) =>
			judgeAgentsBefore(await facts.agents, context),
		),
		clusterRow(
			asked,
			{ ...besides, category: "agents", title: "no other pods with their label" },
			async ({ context, facts }) => judgeLabelledPods(await facts.labelled, await facts.agents, context),
		),
		clusterRow(
			asked,
			{ ...besides, category: "policies", title: "XPodDisruptionBudgets fit ours" },
			async ({ context, facts }) => judgeBudgetKind(await facts.budgetKind, context, { mayBeMissing: true }),
		),
		clusterRow(
			asked,
			{ ...besides, category: "policies", title: "no x-pdb beside the agents" },
			async ({ context, facts }) => judgeXpdb(await facts.policies, context),
		),
	];
	// Prevents unhandled rejections. The loop below throws the failure of a row in its turn.
	for (const row of rows) row.catch(() => undefined);
	for (const row of rows) yield await row;
}
