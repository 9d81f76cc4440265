// Judges what the current user may do, from the API server's own answers.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { OwnCheckReason } from "./check-reason.ts";
import { type ClusterCheck, notChecked, type Reading } from "./check-report.ts";
import { installRights, type Right, rightText } from "./needed-rights.ts";
import type { ClusterFacts } from "./read-cluster.ts";

/** The name of a ClusterRole, and of a Role in the agents' namespace (agent/deploy/rbac-operator.yaml). */
const operatorsRole = "xpdb-operators";

/** Installing needs an administrator, so the command for a missing right only lists the user's rights. */
export async function judgeInstallRights(
	facts: Pick<ClusterFacts, "rights" | "user">,
	context: Pick<KubeContext, "name" | "suggest" | "agents">,
): Promise<ClusterCheck> {
	const judged = await judgeRights(installRights(context.agents.namespace), "InstallRightMissing", facts, context);
	const fix = context.suggest.kubectl(["auth", "can-i", "--list"], context.name);
	return { ...judged, findings: judged.findings.map((each) => (each.fix === undefined ? each : { ...each, fix })) };
}

export async function judgeRights(
	rights: readonly Right[],
	reason: OwnCheckReason,
	facts: Pick<ClusterFacts, "rights" | "user">,
	context: Pick<KubeContext, "name" | "suggest" | "agents">,
): Promise<ClusterCheck> {
	const answers = await Promise.all(rights.map(async (right) => ({ right, answer: await facts.rights(right) })));
	const unread = answers.map(({ answer }) => answer).find((answer) => answer.kind === "unread");
	if (unread) return notChecked(unread.why);
	const missing = answers.filter(({ answer }) => !isYes(answer)).map(({ right }) => right);
	if (missing.length === 0) return { text: "yes", findings: [] };
	const user = await facts.user;
	const name = user.kind === "read" ? user.value : "";
	const message = `${name === "" ? "you" : `user "${name}"`} may not ${missing.map(rightText).join("; ")}`;
	return { text: "no", findings: [{ reason, message, fix: helpfulCommand(missing, name, context) }] };
}

function isYes(answer: Reading<boolean>): boolean {
	return answer.kind === "read" && answer.value;
}

/**
 * Returns a command for an administrator, which binds the user to the shipped role. If the user is unknown, the command lists the existing
 * rights instead.
 */
function helpfulCommand(
	missing: readonly Right[],
	user: string,
	{ name, suggest, agents }: Pick<KubeContext, "name" | "suggest" | "agents">,
): string {
	const inAnchor = missing.every(({ namespace }) => namespace === agents.namespace);
	const place = inAnchor ? ["-n", agents.namespace] : [];
	if (user === "") return suggest.kubectl(["auth", "can-i", "--list", ...place], name);
	const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
	const subject = namespace === undefined ? `--user=${user}` : `--serviceaccount=${namespace}:${account}`;
	const role = inAnchor ? `--role=${operatorsRole}` : `--clusterrole=${operatorsRole}`;
	const kind = inAnchor ? "rolebinding" : "clusterrolebinding";
	const words = ["create", kind, `${operatorsRole}-${account ?? user}`, ...place, role, subject];
	return suggest.kubectlAsAnother(words, name);
}
