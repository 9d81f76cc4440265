// Judges each API server: whether it answers, is new enough, has only one context here, and serves XPodDisruptionBudget. Before an
// installation, it also judges the agents' namespace.
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { oldestMinor } from "../install/oldest-kubernetes.ts";
import { type ClusterCheck, notChecked, ofReading, type Reading } from "./check-report.ts";
import type { AnchorNamespace, BudgetKind } from "./read-cluster.ts";

export function judgeServer(
	version: Reading<string>,
	sameAs: string | undefined,
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
): ClusterCheck {
	if (version.kind === "unread") {
		const fix = suggest.kubectl(["get", "--raw", "/readyz?verbose"], name);
		return { text: "?", findings: [{ reason: "ApiServerSilent", message: version.why, fix }] };
	}
	const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version.value) ?? [];
	const text = /^v?\d+\.\d+(\.\d+)?/.exec(version.value)?.[0] ?? "?";
	if (sameAs !== undefined) {
		const message = `contexts "${sameAs}" and "${name}" lead to the same cluster, whose pods would count twice`;
		return { text, findings: [{ reason: "SameCluster", message, fix: "kubectl config get-contexts" }] };
	}
	if (major === undefined || minor === undefined) {
		return notChecked(`it does not say its version: ${JSON.stringify(version.value)}`);
	}
	if (Number(major) > 1 || Number(minor) >= oldestMinor) return { text, findings: [] };
	const message = `it is Kubernetes ${text}, and xpdb needs 1.${oldestMinor} or newer`;
	return {
		text,
		findings: [{ reason: "ApiServerTooOld", message, fix: suggest.kubectl(["version"], name) }],
	};
}

/** Fields that a budget may need. API servers drop fields that the definition lacks. */
const fieldsOfBudget = ["selector", "minAvailable", "maxUnavailable", "suspend"];

export function judgeBudgetKind(
	kind: Reading<BudgetKind | undefined>,
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
	{ mayBeMissing = false }: { readonly mayBeMissing?: boolean } = {},
): ClusterCheck {
	return ofReading(kind, (found) => {
		const definition = `${budgetApi.resource}.${budgetApi.group}`;
		const see = suggest.kubectl(["get", "customresourcedefinition", definition, "-o", "yaml"], name);
		if (!found && mayBeMissing) return { text: "none", findings: [] };
		if (!found) {
			const message = `it does not serve ${definition}/${budgetApi.version}: no budget can be made there`;
			return { text: "no", findings: [{ reason: "BudgetKindMissing", message, fix: suggest.xpdb(["upgrade"], name) }] };
		}
		const { fields } = found;
		if (!fields) return notChecked(`unknown which fields ${definition} keeps: it publishes no schema`, see);
		const missing = fieldsOfBudget.filter((field) => !fields.has(field));
		if (missing.length === 0) return { text: budgetApi.version, findings: [] };
		const message = `the definition of ${definition} has no spec.${missing.join(", spec.")}: the API server drops what is written there`;
		// Before an installation, there is nothing to upgrade.
		const fix = mayBeMissing ? see : suggest.xpdb(["upgrade", "--force-conflicts"], name);
		return { text: "old", findings: [{ reason: "BudgetKindDiffers", message, fix }] };
	});
}

/** Judges, before an installation, the namespace that the installation would create. */
export function judgeAnchor(
	anchor: Reading<AnchorNamespace | undefined>,
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
): ClusterCheck {
	return ofReading(anchor, (found) => {
		if (!found) return { text: "new", findings: [] };
		if (!found.isEnding) return { text: "there", findings: [] };
		const message = `namespace ${suggest.agentNamespace} is being deleted: nothing can be made in it until it is gone`;
		const fix = suggest.kubectl(["get", "namespace", suggest.agentNamespace, "-o", "yaml"], name);
		return { text: "ends", findings: [{ reason: "NamespaceEnding", message, fix }] };
	});
}
