// Finds the command that helps with a reason, or that shows what is wrong.
import { agentName, defaultFleetConfigMap, managedByLabel } from "../../disruption/agent-names.ts";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { Silent } from "../../disruption/errors.ts";
import type { Reason } from "../events/reason.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { diagnoseCommand } from "../fleet/diagnose-command.ts";
import { unsuspendCommand } from "../nodes/resume-command.ts";

export interface FixSubject {
	/** "" if no kubeconfig names the cluster. */
	readonly context: string;
	readonly suggest: SuggestedCommands;
	readonly namespace?: string | undefined;
	readonly pod?: string | undefined;
	readonly node?: string | undefined;
	/** NAMESPACE/NAME */
	readonly budget?: string | undefined;
	/** PeerUnreachable: the part that does not answer, if known. */
	readonly silent?: Silent | undefined;
}

/** Undefined if only time can help, or if `subject` lacks what the command needs. */
export function fixCommand(reason: Reason, subject: FixSubject): string | undefined {
	const { context, suggest, namespace, pod, node, budget } = subject;
	const kubectl = (...words: readonly string[]): string => suggest.kubectl(words, context);
	const inNamespace = namespace === undefined ? ["-A"] : ["-n", namespace];
	switch (reason) {
		case "BudgetExhausted":
		case "PodReserved":
		case "LeaseFull":
		case "LeaseHeld":
		case "SelectorsDiffer":
		case "NotRecovered":
			return suggest.xpdb(["budgets", ...inNamespace, "-o", "wide"], context);
		case "InvalidBudget":
		case "FeatureMissing":
		case "ExpectedPodsUnknown":
			return kubectl("get", "xpdb", ...inNamespace, "-o", "yaml");
		case "BudgetSuspended":
			return budget === undefined ? undefined : unsuspendCommand(budgetNameOf(budget), suggest);
		case "WorkloadsNotListed":
			return kubectl("get", "clusterrole", agentName, "-o", "yaml");
		case "FleetsDiffer":
			return kubectl("get", "configmap", defaultFleetConfigMap, "-n", suggest.agentNamespace, "-o", "yaml");
		case "GarbledLease":
			return kubectl("get", "leases", "-A", "-l", `${managedByLabel}=${agentName}`, "-o", "yaml");
		case "PeerUnreachable":
			return diagnoseCommand(subject.silent, subject);
		case "AgentRefused":
		case "Forbidden":
			return kubectl("auth", "whoami");
		case "DisruptionBudget":
		case "MultipleBudgets":
			return kubectl("get", "poddisruptionbudgets", ...inNamespace);
		case "NamespaceTerminating":
			return namespace === undefined ? undefined : kubectl("get", "namespace", namespace, "-o", "yaml");
		case "WebhookDenied":
			return kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations");
		case "ServerBusy":
		case "ServerUnreachable":
			return kubectl("get", "--raw", "/readyz?verbose");
		case "CordonFailed":
			return node === undefined ? undefined : kubectl("auth", "can-i", "patch", `nodes/${node}`);
		case "PodsNotAllowed":
			return node === undefined ? undefined : suggest.xpdb(["plan", node], context);
		case "NoOtherNode":
		case "ReturnsToNode":
			return kubectl("get", "nodes");
		case "DrainDeadlock":
			return node === undefined ? undefined : suggest.xpdb(["uncordon", node], context);
		case "TakenOver":
			return suggest.xpdb(["ops"], context);
		case "PreActivityPending":
		case "Refused":
		case "TimedOut":
			return pod === undefined ? undefined : kubectl("describe", "pod", pod, ...inNamespace);
		case "PodUnseen":
		case "CoverageChanged":
		case "Interrupted":
			return undefined;
	}
}

function budgetNameOf(text: string): BudgetName {
	const [namespace = "", name = ""] = text.split("/");
	return { namespace, name };
}
