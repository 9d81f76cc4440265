// Judges the policies that keep others from the agents' objects, and finds x-pdb, which should not run beside the agents.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type ClusterCheck, type FoundProblem, ofReading } from "./check-report.ts";
import { isNeighbour, neighbourText } from "../install/neighbour-warnings.ts";
import type { PolicyInForce, PolicyObjects } from "./read-policies.ts";

type Place = Pick<KubeContext, "name" | "suggest">;

export function judgePolicies({ policies }: PolicyObjects, { name, suggest }: Place): ClusterCheck {
	return ofReading(policies, (found) => {
		const findings = found.flatMap((each): readonly FoundProblem[] => {
			if (!each.policy || !each.binding) {
				const what = each.policy ? "its binding is missing" : "it is missing";
				const message = `ValidatingAdmissionPolicy ${each.name} is not in force: ${what}`;
				// `upgrade` creates the missing objects of an installation, whichever tool applied the rest.
				return [{ reason: "PolicyMissing", message, fix: suggest.xpdb(["upgrade"], name) }];
			}
			const weakness = findWeakness(each);
			if (weakness === undefined) return [];
			// The command shows which fields others have changed, and asks before it takes them over.
			const fix = suggest.xpdb(["upgrade", "--force-conflicts"], name);
			return [{ reason: "PolicyWeak", message: `ValidatingAdmissionPolicy ${each.name} ${weakness}`, fix }];
		});
		return { text: `${found.length - findings.length}/${found.length}`, findings };
	});
}

function findWeakness({ name, policy, binding }: PolicyInForce): string | undefined {
	if (policy?.spec?.failurePolicy === "Ignore") return "lets pass what it cannot evaluate (failurePolicy: Ignore)";
	const { policyName, validationActions = [] } = binding?.spec ?? {};
	if (policyName !== name) return `is not what its binding names (policyName: ${policyName})`;
	if (!validationActions.includes("Deny")) {
		return `does not refuse: its binding has validationActions [${validationActions.join(", ")}]`;
	}
	return undefined;
}

export function judgeXpdb({ webhooks }: PolicyObjects, { name, suggest }: Place): ClusterCheck {
	return ofReading(webhooks, (configurations) => {
		const theirs = configurations.filter(isNeighbour);
		const [first] = theirs;
		if (!first) return { text: "none", findings: [] };
		const names = theirs.map(({ metadata }) => metadata?.name ?? "?");
		const message = `${neighbourText(names)}. Take it away once the budgets are ours`;
		const fix = suggest.kubectl(["get", first.kind, first.metadata?.name ?? "", "-o", "yaml"], name);
		return { text: "yes", findings: [{ reason: "XpdbBeside", message, fix }] };
	});
}
