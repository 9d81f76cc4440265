// Builds the document of `kubectl xpdb explain -o json` (schemas/explain-v1.json).
import type { UsedBy } from "../events/events.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import { type ExplainedPod, type Explanation, exitCodeOf, type Finding } from "../plan/explain/explanation.ts";
import type { HeldLease } from "../plan/explain/read-held-leases.ts";
import { budgetItem, userItem } from "./budgets-document.ts";
import type { HelpfulCommand } from "./helpful-commands.ts";

export const explainSchema = "xpdb.explain/1.0";

export function explanationDocument(explanation: Explanation, commands: readonly HelpfulCommand[]): object {
	const { subject, verdict, findings, pods, budgets, leases, notes, problems, clusters } = explanation;
	return {
		schema: explainSchema,
		...subject,
		mayGoNow: verdict === "MayGo",
		verdict,
		exitCode: exitCodeOf(verdict),
		reasons: findings.map(reasonItem),
		pods: pods.map(podItem),
		budgets: budgets.map((row) => budgetItem(row, clusters)),
		leases: leases.map(leaseItem),
		notes,
		commands,
		problems,
	};
}

function leaseItem({ budget, cluster, holder, account, heldForMs, waiting }: HeldLease): object {
	return {
		budget,
		cluster,
		...(holder !== undefined && { holder, ...readHolder(holder) }),
		...(account !== undefined && { account }),
		...(heldForMs !== undefined && { heldForSeconds: Math.floor(heldForMs / 1_000) }),
		waiting,
	};
}

function podItem(explained: ExplainedPod): object {
	const { findings, message, drain, isOverdue: _, ...pod } = explained;
	return {
		...pod,
		...(message !== "" && { message }),
		reasons: findings.map(reasonItem),
		drain: drain.kind,
		...(drain.message !== "" && { drainMessage: drain.message }),
	};
}

function reasonItem({ verdict, reason, message, budget, usedBy }: Finding): object {
	return {
		verdict,
		reason,
		message,
		...(budget !== undefined && { budget }),
		usedBy: usedBy.map(({ pod, ...used }: UsedBy) => userItem({ ...used, name: pod, why: whyOf(used.why) })),
	};
}

function whyOf(why: string): "Reserved" | "Terminating" | "NotReady" {
	return why === "Reserved" || why === "Terminating" ? why : "NotReady";
}
