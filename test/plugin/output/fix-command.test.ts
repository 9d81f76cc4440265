import { describe, expect, test } from "vitest";
import { reasonCodes, reasons } from "../../../plugin/events/reason.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { fixCommand } from "../../../plugin/output/fix-command.ts";

const suggest = new SuggestedCommands(readGlobalFlags({ "agent-namespace": "xpdb-eu" }));
const db = { context: "eu", suggest, namespace: "shop", pod: "db-0", node: "n1" };

describe("fixCommand()", () => {
	test("names the cluster and the namespace, after the plugin's name", () => {
		expect(fixCommand("BudgetExhausted", db)).toBe(
			"kubectl xpdb budgets -n shop -o wide --context eu --agent-namespace=xpdb-eu",
		);
		expect(fixCommand("DisruptionBudget", db)).toBe("kubectl get poddisruptionbudgets -n shop --context eu");
	});

	test("names no context where the kubeconfig has none, and all namespaces where none is known", () => {
		expect(fixCommand("DisruptionBudget", { context: "", suggest })).toBe("kubectl get poddisruptionbudgets -A");
	});

	test("looks for agents and their fleet where the run does, and nowhere else", () => {
		expect(fixCommand("PeerUnreachable", db)).toBe(
			"kubectl get pods -n xpdb-eu -l app.kubernetes.io/name=xpdb-agent -o wide --context eu",
		);
		expect(fixCommand("FleetsDiffer", db)).toBe("kubectl get configmap xpdb-fleet -n xpdb-eu -o yaml --context eu");
	});

	test("quotes what a shell would read otherwise", () => {
		expect(fixCommand("ServerBusy", { context: "arn eu", suggest })).toBe(
			"kubectl get --raw '/readyz?verbose' --context 'arn eu'",
		);
	});

	test("is none where what it is about is not known, or only time helps", () => {
		expect(fixCommand("TimedOut", { context: "eu", suggest })).toBeUndefined();
		expect(fixCommand("PodUnseen", db)).toBeUndefined();
	});

	test.each(reasons)("for %s is one line, or none", (reason) => {
		const fix = fixCommand(reason, db) ?? "kubectl nothing --context eu";
		expect(fix).toMatch(/^kubectl [^\n]+ --context eu( --agent-namespace=xpdb-eu)?$/);
	});
});

test("each reason has a code of its own", () => {
	expect(new Set(Object.values(reasonCodes)).size).toBe(reasons.length);
});
