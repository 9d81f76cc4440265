// What somebody types next who has read an explanation: whole commands, to be copied.
import { reasons } from "../events/reason.ts";
import type { PodOfBudget } from "../fleet/budget-table.ts";
import type { ExplainedPod, Explanation, Finding } from "../plan/explain/explanation.ts";
import { commandLine } from "../terminal/command-line.ts";
import { fixCommand } from "./fix-command.ts";

export interface HelpfulCommand {
	readonly does: string;
	readonly command: string;
}

export interface HelpOptions {
	/** Names of the contexts of the question. */
	readonly contexts: readonly string[];
	readonly agentNamespace: string;
}

/** Enough for one look. */
const mostUsers = 2;

export function helpfulCommands(explanation: Explanation, options: HelpOptions): readonly HelpfulCommand[] {
	const found = [...fixes(explanation, options), ...users(explanation, options), ...actions(explanation)];
	return [...new Map(found.map((each) => [each.command, each])).values()];
}

/** The flags that a drain of the node needs besides, as its filters name them. */
export function flagsNeeded(pods: readonly ExplainedPod[]): readonly string[] {
	const refused = pods.filter(({ drain }) => drain.kind === "refuses");
	// The filters name the first that is missing; what has no controller needs one more in any case.
	const flags = refused.flatMap(({ drain, owner }) => [
		/\(use (--[a-z-]+) /.exec(drain.message)?.[1],
		owner === "" ? "--force" : undefined,
	]);
	return [...new Set(flags)].filter((flag) => flag !== undefined).toSorted();
}

function kubectl(context: string | undefined, ...words: readonly string[]): string {
	const at = context === undefined || context === "" ? [] : ["--context", context];
	return commandLine(["kubectl", ...words, ...at]);
}

function everywhere(contexts: readonly string[]): readonly string[] {
	const named = contexts.filter((name) => name !== "");
	return named.length === 0 ? [] : [named.length === 1 ? "--context" : "--contexts", named.join(",")];
}

/** Of what has to be put right, or cannot be asked. */
function fixes({ subject, findings, contexts }: Explanation, options: HelpOptions): readonly HelpfulCommand[] {
	return findings.flatMap((finding): readonly HelpfulCommand[] => {
		const { verdict, reason, budget } = finding;
		if (verdict === "Waits" || reason === "PodsNotAllowed") return [];
		if (reason === "PeerUnreachable") {
			const command = commandLine(["kubectl", "xpdb", "version", ...everywhere(options.contexts)]);
			return [{ does: "Who answers and who does not", command }];
		}
		const [namespace = subject.namespace, name] = budget?.split("/") ?? [];
		const context = subject.context ?? [...contexts.values()][0] ?? options.contexts[0];
		if (reason === "BudgetNeverMet" && name !== undefined && namespace !== undefined) {
			return [
				{
					does: "The budget as it is written",
					command: kubectl(context, "get", "xpdb", name, "-n", namespace, "-o", "yaml"),
				},
			];
		}
		const known = reasons.find((each) => each === reason);
		if (known === undefined) return [];
		const { agentNamespace } = options;
		const node = subject.kind === "Node" ? subject.name : undefined;
		const command = fixCommand(known, { context: context ?? "", agentNamespace, namespace, node });
		return command === undefined ? [] : [{ does: "What to look at", command }];
	});
}

/** Of the pods that use the budgets up. */
function users({ budgets, findings, contexts }: Explanation, options: HelpOptions): readonly HelpfulCommand[] {
	const keeping = new Set(findings.filter(isUsedUp).map(({ budget }) => budget));
	const pods = budgets
		.filter(({ namespace, name }) => keeping.has(`${namespace}/${name}`))
		.flatMap(({ usedBy }) => usedBy);
	const stuck = pods.filter(({ why }) => why !== "Reserved").slice(0, mostUsers);
	const held = pods.some(({ why, holder }) => why === "Reserved" && holder !== undefined);
	return [
		...stuck.flatMap((pod) => describePod(pod, contexts)),
		...(held
			? [
					{
						does: "Drains that are under way or were left",
						command: commandLine(["kubectl", "xpdb", "ops", ...everywhere(options.contexts)]),
					},
				]
			: []),
	];
}

function isUsedUp({ reason }: Finding): boolean {
	return reason === "BudgetExhausted" || reason === "BudgetNeverMet";
}

/** Without a way there no command of this person would be about it. */
function describePod(
	{ cluster, namespace, name, why }: PodOfBudget,
	contexts: ReadonlyMap<string, string>,
): readonly HelpfulCommand[] {
	const context = contexts.get(cluster);
	if (context === undefined) return [];
	const does = `Why ${namespace}/${name} is ${why === "Terminating" ? "still there" : "not ready"}`;
	return [{ does, command: kubectl(context, "describe", "pod", name, "-n", namespace) }];
}

function actions({ subject, verdict, pods }: Explanation): readonly HelpfulCommand[] {
	const { kind, context, namespace = "", name } = subject;
	if (kind === "Pod" && (verdict === "MayGo" || verdict === "Waits")) {
		const [pod] = pods;
		if (pod?.state === "Terminating") {
			return [{ does: "How it ends", command: kubectl(context, "describe", "pod", name, "-n", namespace) }];
		}
		const does = verdict === "MayGo" ? "Evict it" : "Evict it as soon as it may go";
		return [{ does, command: kubectl(context, "xpdb", "evict", name, "-n", namespace) }];
	}
	if (kind === "Node" && verdict !== "Unknown") {
		const flags = new Set(flagsNeeded(pods));
		if (pods.some(({ drain, owner }) => drain.kind === "leaves" && owner.startsWith("DaemonSet/"))) {
			flags.add("--ignore-daemonsets");
		}
		const words = [name, ...[...flags].toSorted()];
		return [
			{ does: "All of it in order, and how long", command: kubectl(context, "xpdb", "plan", ...words) },
			{ does: "Drain it", command: kubectl(context, "xpdb", "drain", ...words) },
		];
	}
	return [];
}
